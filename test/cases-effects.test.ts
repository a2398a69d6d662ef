import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import type { Contract, Network } from 'counterfoil'
import type { NetworkFault } from 'counterfoil/testing'
import { classify, maxRetryAfterMs, retryAfterMs } from '../packages/counterfoil/src/domain/index.ts'
import { EffectWorld } from '../packages/counterfoil/src/engine/fixtures/effect-world.ts'
import { type Shape, type ShapeName, shapes } from '../packages/counterfoil/src/engine/fixtures/shapes.ts'
import { disposeWorlds, World } from './world.ts'

/** Failures of effects that people report in public, each as a test of its whole kind. */

afterEach(disposeWorlds)

const minute = 60_000
const hour = 60 * minute
const names = Object.keys(shapes) as ShapeName[]

function worldOf(name: ShapeName, faults: readonly NetworkFault[]): EffectWorld {
  const shape: Shape = shapes[name]
  return new EffectWorld({
    ...shape.recipient,
    contract: shape.contract,
    seed: 1,
    fault: (_, count) => faults[count] ?? 'none',
    ...(shape.version === undefined ? {} : { version: shape.version }),
    ...(shape.condition === undefined ? {} : { condition: shape.condition }),
  })
}

describe('C01: the answer came after our time-out, and the engine woke up past the window of the key', () => {
  for (const hours of [22, 24, 30, 300]) {
    test(`${hours} h later nothing is sent again, the effect is not lost, and its owner is told`, async () => {
      const world = worldOf('idempotent', ['lost-answer'])
      await world.start()
      await world.run(hour, () => world.recipient.sent.length > 0)
      await world.sleep(hours * hour)
      await world.start()
      await world.run(72 * hour)
      assert.deepEqual([world.effect.state, world.recipient.sent.length], ['unknown', 1])
      assert.deepEqual(world.ledger.alerts, ['unknown-needs-a-decision'])
    })
  }
})

describe('C02: a time-out is taken for a failure while the call succeeds', () => {
  for (const name of names) {
    test(`where the contract is ${name}, the attempt is unknown and the effect acts once`, async () => {
      const world = worldOf(name, ['lost-answer'])
      await world.start()
      await world.run(72 * hour)
      assert.equal(world.effect.attempts[0]?.outcome, 'unknown')
      assert.equal(world.recipient.acts.length, 1)
    })
  }
})

describe('C06: an older event arrives late and undoes a newer one', () => {
  test('with a fence the older effect ends fenced and does not act', async () => {
    const world = worldOf('fence', [])
    const newer = { key: null, body: 'newer', version: 8, condition: null, sentAt: world.clock.now() }
    world.recipient.memory.receive(newer)
    await world.start()
    await world.run(hour)
    assert.equal(world.effect.state, 'fenced')
    assert.deepEqual(
      world.recipient.acts.map(({ body }) => body),
      ['newer'],
    )
  })
})

describe('C08, C09: the record is dropped or the key released when the recipient answers 500 after acting', () => {
  for (const name of names) {
    test(`where the contract is ${name}, the effect stays on record and acts once`, async () => {
      const world = worldOf(name, ['error-after-acting'])
      await world.start()
      await world.run(72 * hour)
      assert.equal(world.recipient.acts.length, 1)
      assert.ok(['confirmed', 'unknown'].includes(world.effect.state))
      assert.equal(world.effect.attempts[0]?.outcome, 'unknown')
    })
  }
})

describe('C07, C10, C11: the same effect key with another payload', () => {
  /** Plans an effect, perhaps in flight, and then another payload under its key. */
  async function conflicted(network: NetworkFault): Promise<World> {
    const world = new World({ shape: 'both', network: () => network, timeout: '30s', slowMs: 20_000 })
    await world.start()
    await world.deliver('481')
    await world.run(minute, () => world.recipient.sent.length > 0)
    await world.deliver('481-again', { id: '481', plan: 'enterprise' })
    await world.settle(hour)
    return world
  }

  for (const [when, network] of [
    ['after the first has acted', 'none'],
    ['while the first is in flight', 'slow-answer'],
  ] as const) {
    test(`${when}: a conflict with both fingerprints, and nothing of it leaves`, async () => {
      const world = await conflicted(network)
      const bodies = new Set(world.recipient.sent.map(({ body }) => body))
      assert.deepEqual([...bodies], ['{"seat":"481","plan":"pro"}'])
      assert.equal(world.recipient.acts.length, 1)
      const { store } = world.app
      const receipts = await store.listReceipts({ limit: 9 })
      assert.deepEqual(receipts.map(({ state }) => state).sort(), ['planned', 'quarantined'])
      assert.deepEqual(await world.violations(), [])
    })
  }
})

describe('C25: a redirect or a reset', () => {
  for (const status of [301, 302, 303, 307, 308]) {
    test(`a ${status} is an answer that proves nothing, and is not followed`, () => {
      const exchange = {
        kind: 'answered',
        status,
        headers: { location: '/' },
        body: new Uint8Array(),
      } as const
      assert.equal(classify({}, exchange, 0).kind, 'unknown')
    })
  }

  test('a reset after the first byte is unknown, and the request went out once', async () => {
    const world = worldOf('neither', [])
    const network: Network = world.recipient
    const send = network.send.bind(network)
    network.send = async (request, signal) => {
      await send(request, signal)
      return { kind: 'unclear', why: 'the connection was reset' }
    }
    await world.start()
    await world.run(72 * hour)
    assert.deepEqual([world.effect.state, world.recipient.sent.length], ['unknown', 1])
  })
})

describe('C26: the status says one thing and means another', () => {
  const cases: [string, Contract, number, object, string][] = [
    [
      '200 with an error in its body',
      { outcomes: [{ status: 200, body: { pointer: '/ok', equals: false }, means: 'refused' }] },
      200,
      { ok: false },
      'refused',
    ],
    [
      '200 that says try later',
      { outcomes: [{ status: 200, body: { pointer: '/error', equals: 'busy' }, means: 'not-acted' }] },
      200,
      { error: 'busy' },
      'notActed',
    ],
    [
      '409 that means already done',
      { outcomes: [{ status: 409, means: 'confirmed' }] },
      409,
      {},
      'confirmed',
    ],
    ['404 on a deletion', { outcomes: [{ status: 404, means: 'confirmed' }] }, 404, {}, 'confirmed'],
    ['409 while the key is in work', {}, 409, {}, 'unknown'],
    ['401 with a token that ran out', {}, 401, {}, 'notActed'],
  ]
  for (const [name, contract, status, body, kind] of cases) {
    test(`${name}: ${kind}`, () => {
      const answer = {
        kind: 'answered',
        status,
        headers: {},
        body: Buffer.from(JSON.stringify(body)),
      } as const
      assert.equal(classify(contract, answer, 0).kind, kind)
    })
  }
})

describe('C27: Retry-After in every shape', () => {
  const now = Date.UTC(2026, 0, 5, 12)
  const cases: [string, number | undefined][] = [
    ['30', 30_000],
    ['Mon, 05 Jan 2026 12:00:30 GMT', 30_000],
    ['-5', undefined],
    ['1e9', undefined],
    ['99999999999', maxRetryAfterMs],
    ['Fri, 01 Jan 2100 00:00:00 GMT', maxRetryAfterMs],
  ]
  for (const [header, ms] of cases)
    test(`'${header}' waits ${ms} ms`, () => assert.equal(retryAfterMs(header, now), ms))

  test('is honoured between two attempts', async () => {
    const world = worldOf('idempotent', ['refused-connection'])
    let count = 0
    const network: Network = world.recipient
    const send = network.send.bind(network)
    network.send = async (request, signal) =>
      count++ === 0
        ? { kind: 'answered', status: 429, headers: { 'retry-after': '600' }, body: new Uint8Array() }
        : await send(request, signal)
    await world.start()
    const begun = world.clock.now()
    await world.run(hour)
    assert.ok(world.effect.attempts[1]!.begunAt >= begun + 600_000)
    assert.equal(world.effect.state, 'confirmed')
  })
})

describe('a credential that ran out stops nothing for good', () => {
  test('a 401 is attempted again until it is mended, and its owner is told once', async () => {
    const world = worldOf('idempotent', [])
    const mendedAt = world.clock.now() + 6 * hour
    const network: Network = world.recipient
    const send = network.send.bind(network)
    network.send = async (request, signal) =>
      world.clock.now() < mendedAt
        ? { kind: 'answered', status: 401, headers: {}, body: new Uint8Array() }
        : await send(request, signal)
    await world.start()
    await world.run(12 * hour)
    assert.deepEqual([world.effect.state, world.recipient.acts.length], ['confirmed', 1])
    assert.deepEqual(world.ledger.alerts, ['credentials-refused'])
  })

  test('what cannot be sent for a quarter of an hour is told to its owner once, and goes on', async () => {
    const world = worldOf(
      'neither',
      Array.from({ length: 30 }, () => 'refused-connection' as const),
    )
    await world.start()
    await world.run(12 * hour)
    assert.deepEqual([world.effect.state, world.recipient.acts.length], ['confirmed', 1])
    assert.deepEqual(world.ledger.alerts, ['cannot-be-sent'])
  })
})
