import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type Duration, type Retention, retentionOf, retentionSteps } from '../domain/index.ts'
import type { Store } from '../store/index.ts'
import { MemoryDatabase } from '../store/sqlite/index.ts'
import { faultyStore } from '../testing/index.ts'
import { dawn, day, type Event, RetentionWorld, vault } from './fixtures/retention-world.ts'
import { forget } from './forget.ts'

const wholeDays = (max: number) => fc.integer({ min: 0, max }).map((days): Duration => `${days}d`)

/** Settings of every kind, most of them near the least that is allowed, on either side. */
const settings = fc
  .record({
    retry: fc.integer({ min: 1, max: 40 }),
    queue: wholeDays(10),
    operator: wholeDays(30),
    audit: wholeDays(120),
    remembersFor: fc.oneof(wholeDays(40), fc.constant('forever' as const)),
    evidence: fc.option(wholeDays(150), { nil: undefined }),
    boundary: fc.oneof(wholeDays(300), fc.constant('never' as const)),
    effectKeys: fc.oneof(wholeDays(300), fc.constant('never' as const)),
  })
  .map(({ retry, remembersFor, evidence, ...options }): Retention | null => {
    const idempotency = {
      header: 'K',
      remembersFor,
      otherPayload: 'refused',
      replays: 'first-answer',
    } as const
    const subjects = {
      producers: [{ name: 'stripe', retryHorizon: `${retry}d` as const, isInternal: true }],
      recipients: [{ name: 'bank', contract: { idempotency } }],
    }
    try {
      return retentionOf({ ...options, ...(evidence === undefined ? {} : { evidence }) }, subjects)
    } catch {
      return null
    }
  })
  .filter((retention) => retention !== null)

const life = fc.record({
  events: fc.array(
    fc.record({
      key: fc.constantFrom('a', 'b', 'c'),
      happens: fc.double({ min: 0, max: 400, noNaN: true }),
      dated: fc.boolean(),
      /** When copies come, as a share of the producer's horizon. */
      copies: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 3 }),
      /** When its effect is confirmed, as a share of all the time that there is. */
      confirmed: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  retained: fc.array(fc.double({ min: 0, max: 900, noNaN: true }), { minLength: 2, maxLength: 12 }),
})

type Life = Parameters<Parameters<typeof life.map>[0]>[0]

/** Lives one life on a store; every copy within its producer's horizon has to be known. */
async function live(store: Store, retention: Retention, { events, retained }: Life): Promise<void> {
  const world = new RetentionWorld(store)
  const { ms: horizonMs } = retention.producers[0]!
  const { boundaryMs, effectKeysMs } = retention.periods
  const settleMs = retention.longest.totalMs - retention.longest.producerMs
  const all = events.map((one, index) => {
    const at = dawn + Math.floor(one.happens * day)
    const event: Event = { id: `evt_${index}`, key: one.key, eventAt: one.dated ? at : null }
    return { ...one, at, event }
  })
  const createdAt = new Map<string, number>()
  const steps = [
    ...all.map(({ at, event }) => ({ at, run: () => first(event, at) })),
    ...all.flatMap(({ at, event, copies }) =>
      copies.map((share) => {
        const when = at + Math.floor(share * horizonMs)
        return { at: when, run: () => copy(event, when) }
      }),
    ),
    ...all.map(({ at, confirmed }) => {
      const when = at + Math.floor(confirmed * settleMs)
      return { at: when, run: () => world.confirm(when) }
    }),
    ...retained.map((days) => {
      const when = dawn + Math.floor(days * day)
      return { at: when, run: () => world.retain(retention.periods, when) }
    }),
  ].sort((a, b) => a.at - b.at)
  for (const { run } of steps) await run()
  await afterAll()

  async function first(event: Event, at: number): Promise<void> {
    const { outcome, created } = await world.deliver(event, at)
    assert.equal(outcome, 'accepted')
    const before = createdAt.get(event.key)
    // Another event may plan the same effect for as long as the setting says.
    if (before !== undefined && (effectKeysMs === null || at <= before + effectKeysMs)) {
      assert.equal(created, false, `a second effect '${event.key}' was started by ${event.id}`)
    }
    if (created) createdAt.set(event.key, at)
  }

  async function copy(event: Event, at: number): Promise<void> {
    const told = await world.deliver(event, at)
    assert.deepEqual(told, { outcome: 'duplicate', created: false }, `${event.id} came again`)
  }

  /** Long after everything: what was dated and dropped is refused, what was not is known. */
  async function afterAll(): Promise<void> {
    const end = dawn + 3_000 * day
    await world.confirm(end)
    await world.deliver({ id: 'newest', key: 'newest', eventAt: end }, end)
    await world.confirm(end)
    const later = end + 1_000 * day
    await world.retain(retention.periods, later)
    await world.retain(retention.periods, later + 1)
    for (const { event } of all) {
      const { outcome } = await world.deliver(event, later + 2)
      const dropped = boundaryMs !== null && event.eventAt !== null
      assert.ok(outcome === (dropped ? 'beyond_retention' : 'duplicate'), `${event.id}: ${outcome}`)
    }
  }
}

describe('whatever settings are accepted and whenever retention is applied', () => {
  test('a delivery within the horizons is known and starts no second effect; beyond the boundary it is refused', async () => {
    const database = new MemoryDatabase()
    const { store } = database.handle()
    let lives = 0
    await fc.assert(
      fc.asyncProperty(settings, life, async (retention, one) => {
        database.clear()
        await store.open({ migrate: true, vault })
        await live(store, retention, one)
        lives++
      }),
      { numRuns: Number(process.env.COUNTERFOIL_RETENTION_RUNS ?? 100) },
    )
    assert.ok(lives > 0)
    database.close()
  })
})

test('what is refused would not hold: a copy within its horizon turned away, and an effect started twice', async () => {
  const database = new MemoryDatabase()
  const { store } = database.handle()
  await store.open({ migrate: true, vault })
  const world = new RetentionWorld(store)
  const tooShort = { payloadMs: day, evidenceMs: day, boundaryMs: 2 * day, effectKeysMs: 2 * day }
  const event = { id: 'evt_1', key: 'a', eventAt: dawn }
  assert.equal((await world.deliver(event, dawn)).created, true)
  await world.deliver({ id: 'evt_2', key: 'b', eventAt: null }, dawn)
  await world.confirm(dawn)
  await world.deliver({ id: 'newest', key: 'c', eventAt: null }, dawn + 20 * day)
  await world.retain(tooShort, dawn + 20 * day)
  assert.equal((await world.deliver(event, dawn + 20 * day)).outcome, 'beyond_retention')
  const other = await world.deliver({ id: 'evt_3', key: 'a', eventAt: null }, dawn + 20 * day)
  assert.equal(other.created, true)
  database.close()
})

const periods = { payloadMs: 10 * day, evidenceMs: 20 * day, boundaryMs: 30 * day, effectKeysMs: 30 * day }

/** A store with a history that every step takes something of. */
async function history(store: Store): Promise<RetentionWorld> {
  const world = new RetentionWorld(store)
  for (let index = 0; index < 5; index++) {
    const at = dawn + index * 10 * day
    await world.deliver({ id: `evt_${index}`, key: `key_${index}`, eventAt: at }, at)
    await world.confirm(at)
    // What is older becomes markers, some of which are dropped later.
    if (index === 3) await world.retain({ ...periods, boundaryMs: null, effectKeysMs: null }, at)
  }
  return world
}

const applied = dawn + 61 * day

/** What a store tells of the same questions. */
async function told(world: RetentionWorld) {
  const { store } = world
  const { size: _, ...state } = await store.retention()
  const { receipts, effects } = await store.status()
  const again = []
  for (let index = 0; index < 5; index++) {
    const eventAt = dawn + index * 10 * day
    const { outcome } = await world.deliver({ id: `evt_${index}`, key: `key_${index}`, eventAt }, applied)
    again.push(outcome)
  }
  return { state, receipts: receipts.byState, effects: effects.byState, again }
}

describe('a crash in the middle', () => {
  test('of any batch of any step, whether it was committed or not, is made good by the next run', async () => {
    const database = new MemoryDatabase()
    const fresh = async () => {
      database.clear()
      const { store } = database.handle()
      await store.open({ migrate: true, vault })
      return await history(store)
    }
    const whole = await fresh()
    const totals = await whole.retain(periods, applied)
    assert.deepEqual(
      totals.filter(({ count }) => count === 0).map(({ step }) => step),
      [],
      'every step has something to take',
    )
    const expected = await told(whole)
    assert.deepEqual(expected.again.slice(0, 3), ['beyond_retention', 'beyond_retention', 'beyond_retention'])
    assert.equal(expected.again[4], 'duplicate')

    let crashes = 0
    for (let skip = 0; skip < retentionSteps.length; skip++) {
      for (const fault of [
        { kind: 'commit-unknown', call: 'forget', committed: true, skip },
        { kind: 'commit-unknown', call: 'forget', committed: false, skip },
      ] as const) {
        const world = await fresh()
        const faulty = faultyStore(world.store, fault)
        const run = forget({ store: faulty, clock: world.clock }, periods, { now: applied })
        await assert.rejects(run, { code: 'commit_unknown' })
        crashes++
        await world.retain(periods, applied)
        assert.deepEqual(await told(world), expected, JSON.stringify(fault))
        assert.ok((await world.retain(periods, applied)).every(({ count }) => count === 0))
      }
    }
    assert.equal(crashes, 2 * retentionSteps.length)
    database.close()
  })
})
