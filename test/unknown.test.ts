import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import type { Network } from 'counterfoil'
import type { NetworkFault } from 'counterfoil/testing'
import { contracts, disposeWorlds, type Shape, World } from './world.ts'

afterEach(disposeWorlds)

const minute = 60_000

/** The first request meets the fault, the rest does not. */
const first = (fault: NetworkFault) => (_: unknown, count: number) => (count === 0 ? fault : 'none')

async function once(shape: Shape, fault: NetworkFault): Promise<World> {
  const world = new World({ shape, network: first(fault) })
  await world.start()
  assert.equal((await world.deliver('481'))?.status, 202)
  await world.settle(26 * 60 * minute)
  return world
}

async function effectOf(world: World) {
  const [effect] = await world.app.store.listEffects({ limit: 1 })
  assert.ok(effect)
  return effect
}

test('a recipient that acts and lets the call time out is looked up and confirmed, and acted once', async () => {
  const world = await once('both', 'lost-answer')
  const effect = await effectOf(world)
  assert.equal(effect.state, 'confirmed')
  assert.equal(effect.attempts.length, 1)
  assert.equal(effect.attempts[0]?.outcome, 'unknown')
  assert.deepEqual(
    effect.evidence.map(({ kind, fact, from, to }) => ({ kind, fact, from, to })),
    [{ kind: 'lookup', fact: 'foundActed', from: 'unknown', to: 'confirmed' }],
  )
  assert.equal(world.recipient.acts.length, 1)
  assert.deepEqual(await world.violations(), [])
})

describe('for every contract and every way to lose an answer', () => {
  for (const shape of Object.keys(contracts) as Shape[]) {
    for (const fault of [
      'lost-answer',
      'late-answer',
      'error-after-acting',
      'lost-request',
      'stalled-request',
      'refused-connection',
    ] as const) {
      test(`${fault} at a recipient that is ${shape} ends with at most one act`, async () => {
        const world = await once(shape, fault)
        const effect = await effectOf(world)
        assert.deepEqual(await world.violations(), [])
        assert.ok(world.recipient.acts.length <= 1)
        if (fault === 'refused-connection')
          assert.equal(effect.state, 'confirmed', 'nothing was sent, so it is safe everywhere')
        else if (shape === 'neither') assert.deepEqual([effect.state, effect.escalated], ['unknown', true])
        else assert.equal(effect.state, 'confirmed')
      })
    }
  }
})

test('treating a time-out as a failure is caught: the same scenario with that mistake breaks the invariants', async () => {
  // The mistake of job queues, planted at the network port: a time-out is reported as "nothing was sent".
  const mistaken = (network: Network): Network => ({
    close: () => network.close(),
    async send(request, signal) {
      const exchange = await network.send(request, signal)
      return exchange.kind === 'unclear' ? { kind: 'notSent', why: 'time-out taken for a failure' } : exchange
    },
  })
  const world = new World({ shape: 'neither', network: first('lost-answer') })
  await world.start({ wrap: mistaken })
  await world.deliver('481')
  await world.settle(26 * 60 * minute)
  assert.equal(world.recipient.acts.length, 2, 'the customer is charged twice')

  const queryable = new World({
    shape: 'idempotent',
    network: (_, count) => (count === 0 ? 'lost-answer' : 'refused-connection'),
  })
  await queryable.start({ wrap: mistaken })
  await queryable.deliver('481')
  await queryable.settle(60 * minute)
  assert.match((await queryable.violations()).join('\n'), /the ledger says planned and \S+ acted 1 times/)
})

test('down for 30 hours after a lost answer: no repeat once the recipient may have forgotten the key (C01)', async () => {
  const world = new World({ shape: 'idempotent', network: first('lost-answer') })
  await world.start()
  await world.deliver('481')
  await world.run(minute, () => world.recipient.sent.length > 0)
  await world.kill()
  world.clock.jump(30 * 60 * minute)
  await world.start()
  await world.settle(26 * 60 * minute)
  const effect = await effectOf(world)
  assert.deepEqual([effect.state, effect.escalated, world.recipient.sent.length], ['unknown', true, 1])
})
