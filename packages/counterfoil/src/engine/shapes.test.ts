import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { isFinalState, retentionMargin } from '../domain/index.ts'
import type { NetworkFault } from '../testing/simulated-recipient.ts'
import { EffectWorld } from './fixtures/effect-world.ts'
import { type Shape, type ShapeName, shapes } from './fixtures/shapes.ts'

/**
 * Every shape of contract against every fault, with the dispatcher, policy and recipient code that ship, on virtual
 * time. The recipient counts its own acts and shares nothing with the engine.
 *
 * `COUNTERFOIL_CONTRACT_CASES` random cases (default 2000), from `COUNTERFOIL_SEED` where it is set.
 */

const hour = 3_600_000
const day = 24 * hour
const names = Object.keys(shapes) as ShapeName[]

function worldOf(
  shape: Shape,
  faults: readonly NetworkFault[],
  about: { seed?: number; stallMs?: number } = {},
) {
  const { contract, recipient, version, condition } = shape
  return new EffectWorld({
    ...recipient,
    contract,
    seed: about.seed ?? 1,
    fault: (_, count) => faults[count] ?? 'none',
    ...(about.stallMs === undefined ? {} : { stallMs: about.stallMs }),
    ...(version === undefined ? {} : { version }),
    ...(condition === undefined ? {} : { condition }),
  })
}

interface Life {
  readonly state: string
  readonly acts: number
}

async function live(world: EffectWorld): Promise<Life> {
  await world.start()
  await world.run(3 * day)
  await world.sleep(day)
  return { state: world.effect.state, acts: world.recipient.acts.length }
}

const once: Life = { state: 'confirmed', acts: 1 }
const unknown = (acts: number): Life => ({ state: 'unknown', acts })

/** What one fault at the first request ends in, by design.md section 3; `once` where nothing is said. */
const ends: Partial<Record<NetworkFault, Partial<Record<ShapeName, Life>>>> = {
  'lost-request': {
    hinting: unknown(0),
    neither: unknown(0),
    fence: unknown(0),
    tombstone: { state: 'withdrawn', acts: 0 },
    'conditional, queryable': once,
  },
  'lost-answer': { neither: unknown(1), fence: unknown(1), conditional: unknown(1) },
  'late-answer': { neither: unknown(1), fence: unknown(1), conditional: unknown(1) },
  'error-after-acting': { neither: unknown(1), fence: unknown(1), conditional: unknown(1) },
  'error-before-acting': {
    'first answer': unknown(0),
    hinting: unknown(0),
    neither: unknown(0),
    fence: unknown(0),
    tombstone: { state: 'withdrawn', acts: 0 },
  },
  'stalled-request': {
    neither: unknown(1),
    fence: unknown(1),
    tombstone: { state: 'withdrawn', acts: 0 },
  },
  // What recognises nothing acts on each copy that its network makes; the engine sent one.
  duplicate: { neither: { state: 'confirmed', acts: 2 } },
  'refused-connection': {},
}

for (const [fault, exceptions] of Object.entries(ends) as [
  NetworkFault,
  Partial<Record<ShapeName, Life>>,
][]) {
  describe(`${fault} at the first request`, () => {
    for (const name of names) {
      const expected = exceptions[name] ?? once
      test(`ends ${expected.state} with ${expected.acts} acts where the contract is ${name}`, async () => {
        const world = worldOf(shapes[name], [fault])
        assert.deepEqual(await live(world), expected)
        if (expected.state === 'unknown') assert.ok(world.ledger.alerts.length > 0, 'its owner was told')
      })
    }
  })
}

describe('an engine that was away for longer than the recipient remembers keys', () => {
  for (const name of names) {
    for (const fault of ['lost-answer', 'lost-request'] as const) {
      test(`after a ${fault} makes no second act where the contract is ${name}`, async () => {
        const world = worldOf(shapes[name], [fault])
        await world.start()
        await world.run(hour, () => world.recipient.sent.length > 0)
        await world.sleep(30 * hour)
        await world.start()
        await world.run(3 * day)
        assert.ok(world.recipient.acts.length <= 1)
        const { sent } = world.recipient
        const { idempotency, ordering } = shapes[name].contract as Shape['contract']
        if (idempotency !== undefined && ordering?.conditional === undefined)
          assert.equal(sent.length, 1, 'no repeat, no attempt on forgotten absence')
      })
    }
  }
})

test('a pruned key that would run again is never sent again, however long the engine was away', async () => {
  for (let hours = 1; hours <= 72; hours += 1) {
    const world = worldOf(shapes['first answer'], ['lost-answer'])
    await world.start()
    await world.run(hour, () => world.recipient.sent.length > 0)
    await world.sleep(hours * hour)
    await world.start()
    await world.run(3 * day)
    assert.equal(world.recipient.acts.length, 1, `after ${hours} h`)
    assert.equal(world.effect.state, hours < 22 ? 'confirmed' : 'unknown', `after ${hours} h`)
  }
})

test('another payload under the key is refused where the recipient compares, and nothing acts', async () => {
  const world = worldOf(shapes.idempotent, [])
  await world.plan()
  world.recipient.memory.occupy(world.effect.idempotencyKey, 'what another program sent')
  assert.deepEqual(await live(world), { state: 'refused', acts: 0 })
})

test('an older version is fenced and does not act', async () => {
  const world = worldOf(shapes.fence, [])
  world.recipient.memory.receive({
    key: null,
    body: 'newer',
    version: 8,
    condition: null,
    sentAt: world.clock.now(),
  })
  assert.deepEqual(await live(world), { state: 'fenced', acts: 1 })
  assert.equal(world.recipient.acts[0]?.body, 'newer')
})

describe('for every contract, whatever happens to the first four requests', () => {
  const faults = fc.array(
    fc.constantFrom<NetworkFault>(
      'none',
      'refused-connection',
      'lost-request',
      'lost-answer',
      'late-answer',
      'error-before-acting',
      'error-after-acting',
      'stalled-request',
    ),
    { maxLength: 4 },
  )
  const life = fc.record({
    name: fc.constantFrom(...names),
    faults,
    /** A stalled request lands soon, after several lookups, or days later. */
    stallMs: fc.constantFrom(6_000, 20_000, 50_000, hour, 30 * hour),
    /** The engine goes away once it has sent this many requests, for so long. */
    away: fc.option(
      fc.record({ after: fc.integer({ min: 1, max: 3 }), hours: fc.constantFrom(1, 20, 23, 25, 50) }),
    ),
    seed: fc.nat(),
  })
  const numRuns = Number(process.env.COUNTERFOIL_CONTRACT_CASES ?? 2_000)
  const seed = Number(process.env.COUNTERFOIL_SEED ?? Date.now() % 2 ** 31)

  test(`the recipient acts at most once and the ledger says what is so (${numRuns} cases, seed ${seed})`, async () => {
    await fc.assert(
      fc.asyncProperty(life, async ({ name, faults, stallMs, away, seed }) => {
        const world = worldOf(shapes[name], faults, {
          seed,
          stallMs: Math.min(stallMs, longestStall(shapes[name])),
        })
        await world.start()
        if (away !== null) {
          await world.run(day, () => world.effect.dueAt === null || world.recipient.sent.length >= away.after)
          await world.sleep(away.hours * hour)
          await world.start()
        }
        await world.run(3 * day)
        await world.sleep(2 * day)
        holds(world, name)
      }),
      { numRuns, seed, endOnFailure: false },
    )
  })
})

/**
 * A request that is stalled until its recipient has forgotten the key acts again, and nobody but the recipient could
 * refuse it. What the margin keeps free is how long a stall may last (docs/contracts.md).
 */
function longestStall({ recipient: { remembersMs } }: Shape): number {
  return remembersMs === undefined ? Number.POSITIVE_INFINITY : remembersMs * retentionMargin
}

/** Invariants of design.md section 4, from the recipient's own count and the ledger's own words. */
function holds({ effect, recipient, ledger }: EffectWorld, name: ShapeName): void {
  const acts = recipient.acts.length
  assert.ok(acts <= 1, `I9: ${acts} acts`)
  const bodies = new Set(recipient.sent.map(({ body, key }) => `${key} ${body}`))
  assert.ok(bodies.size <= 1, 'I7: one key and the same bytes for every attempt')
  assert.ok(recipient.sent.length <= effect.attempts.length, 'I5: every request has its attempt')
  if (effect.state === 'confirmed') assert.equal(acts, 1, 'confirmed means that it acted')
  if (['refused', 'fenced', 'withdrawn'].includes(effect.state))
    assert.equal(acts, 0, `${effect.state} means that it did not`)
  assert.notEqual(effect.state, 'attempting')
  assert.notEqual(effect.state, 'planned', 'every fault has passed')
  if (!isFinalState(effect.state))
    assert.ok(ledger.alerts.length > 0, 'what stays unknown was told to its owner')
  // I10, I11, I16: what went out after an attempt that was left open needed the contract's leave.
  const { idempotency, ordering } = shapes[name].contract as Shape['contract']
  const absent = effect.evidence.filter(({ fact }) => fact === 'absenceFinal').map(({ at }) => at)
  const repeats = effect.attempts.filter(({ begunAt }, index) =>
    effect.attempts
      .slice(0, index)
      .some(
        (before) =>
          before.outcome === 'unknown' && !absent.some((at) => at >= before.begunAt && at <= begunAt),
      ),
  )
  if (repeats.length === 0 || ordering?.conditional !== undefined) return
  assert.ok(idempotency !== undefined && idempotency.replays !== 'nothing', 'a repeat without leave')
  const first = effect.attempts[0]!.begunAt
  for (const { begunAt } of repeats)
    assert.ok(begunAt < first + day, 'I16: a repeat of a key that may be forgotten')
}
