import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import type { CrashableCall, StoreFault } from 'counterfoil/testing'
import { contracts, disposeWorlds, type Shape, World, type WorldOptions } from './world.ts'

/**
 * A process dies at each durable step, before it and after it, or is told that nobody knows whether it
 * committed; another starts on the same file; the sender sends again. Afterwards all invariants hold.
 */

const minute = 60_000
const hour = 60 * minute
const allShapes = Object.keys(contracts) as Shape[]

/** A scenario in which each call is made at all, and how many calls of the kind come before it that find nothing to do. */
type Scenario = WorldOptions & { readonly skip?: number }
const scenarios: Record<CrashableCall, (shape: Shape) => Scenario | null> = {
  accept: (shape) => ({ shape }),
  // Batches: cases-intake.test.ts.
  acceptAll: () => null,
  claimOutbox: (shape) => ({ shape, trigger: 'fails-once', skip: 1 }),
  plan: (shape) => ({ shape }),
  commit: (shape) => ({ shape, trigger: 'sql' }),
  takeDue: (shape) => ({ shape, limits: { concurrency: 4 }, skip: 1 }),
  beginRepeat: (shape) =>
    shape === 'idempotent' ? { shape, network: (_, count) => (count === 0 ? 'lost-answer' : 'none') } : null,
  settle: (shape) => ({ shape }),
  postponePlan: (shape) => (shape === 'both' ? { shape, trigger: 'fails-once' } : null),
  quarantinePlan: (shape) => (shape === 'both' ? { shape, trigger: 'fails' } : null),
  // Needs alerts that are effects: alerts.test.ts.
  planAlert: () => null,
  // Retention, which no schedule here applies: engine/forget.test.ts, operate/retention.test.ts.
  forget: () => null,
  erase: () => null,
}

async function livesOn(options: WorldOptions, life: Parameters<World['start']>[0]): Promise<World> {
  const world = new World(options)
  await world.start(life)
  const answer = await world.deliver('481')
  await world.settle(10 * minute)
  if (life?.store !== undefined) assert.ok(world.process.struck, 'the fault was met')
  if (!world.process.alive) {
    await world.kill()
    await world.start()
  }
  // What a sender does that got no 2xx; and at least once is what it promises anyway.
  const again = await world.deliver('481')
  if (answer?.status === 202) assert.equal(again?.status, 200)
  await world.settle(24 * hour)
  return world
}

async function holds(world: World, { shape, trigger }: WorldOptions): Promise<void> {
  assert.deepEqual(await world.violations(), [])
  const acts = world.recipient.acts.length
  assert.ok(acts <= 1)
  if (shape !== 'neither') assert.equal(acts, trigger === 'fails' ? 0 : 1)
  if (trigger === 'sql') assert.equal(await world.opened('481'), 1, "the trigger's own row is written once")
  if (trigger === 'fails') {
    const [entry] = (await world.app.store.listQuarantine({ limit: 2 })).entries
    assert.equal(entry?.reason, 'plan-failed')
  }
}

/**
 * @param database a store of its own for each world, instead of a file
 * @param shapes fewer than all where it is not cheap
 */
export function crashPoints(
  database: () => WorldOptions['database'] = () => undefined,
  shapes: readonly Shape[] = allShapes,
): void {
  afterEach(disposeWorlds)

  for (const [call, scenario] of Object.entries(scenarios) as [
    CrashableCall,
    (typeof scenarios)[CrashableCall],
  ][]) {
    describe(`at '${call}'`, () => {
      for (const shape of shapes) {
        const made = scenario(shape)
        if (made === null) continue
        const { skip = 0 } = made
        const options = () => ({ ...made, database: database() })
        for (const when of ['before', 'after'] as const) {
          test(`a crash ${when} it loses nothing and repeats nothing; the recipient is ${shape}`, async () => {
            const world = await livesOn(options(), { store: { kind: 'crash', call, when, skip } })
            await holds(world, made)
            if (call === 'takeDue' && shape === 'neither') {
              // Begun and never sent: nobody can know that, so nobody sends it.
              assert.equal(world.recipient.acts.length, when === 'before' ? 1 : 0)
            }
          })
        }
        for (const committed of [true, false]) {
          test(`a commit of which nobody knows (it ${committed ? 'happened' : 'did not'}) loses nothing and repeats nothing; the recipient is ${shape}`, async () => {
            const fault: StoreFault = { kind: 'commit-unknown', call, committed, skip }
            const world = await livesOn(options(), { store: fault })
            await holds(world, made)
          })
        }
      }
    })
  }

  describe('after the recipient acted and before its answer was read', () => {
    for (const shape of shapes) {
      test(`a crash leads to one act; the recipient is ${shape}`, async () => {
        const world = await livesOn({ shape, database: database() }, { dieAfterAnswers: 1 })
        assert.equal(world.recipient.acts.length, 1)
        assert.deepEqual(await world.violations(), [])
        const [effect] = await world.app.store.listEffects({ limit: 1 })
        assert.equal(effect?.state, shape === 'neither' ? 'unknown' : 'confirmed')
      })
    }
  })
}
