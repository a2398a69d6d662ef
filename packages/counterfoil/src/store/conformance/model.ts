import { it } from 'node:test'
import fc from 'fast-check'
import type { EffectState } from '../../domain/index.ts'
import type { Store } from '../store.ts'
import { alice, bob, leaseMs, type MakeStore } from './given.ts'
import { ModelledStore } from './modelled-store.ts'

const worker = fc.constantFrom(alice, bob)
const event = fc.nat({ max: 3 })
const key = fc.nat({ max: 2 })
const body = fc.nat({ max: 1 })
const which = fc.nat({ max: 5 })
const states: readonly EffectState[] = ['confirmed', 'refused', 'unknown', 'unknown', 'planned']

type Command = (model: ModelledStore) => Promise<void>

/** What may happen to a store, on few names so that everything meets everything. */
const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({ event, body, unfit: fc.boolean() }).map((c) => named(c, (model) => model.accept(c))),
  fc
    .record({ deliveries: fc.array(fc.record({ event, body, unfit: fc.boolean() }), { maxLength: 4 }) })
    .map((c) => named(c, (model) => model.acceptAll(c))),
  fc.record({ worker }).map((c) => named(c, (model) => model.claim(c))),
  fc
    .record({ which, effects: fc.array(fc.record({ key, payload: body }), { maxLength: 2 }) })
    .map((c) => named(c, (model) => model.plan(c))),
  fc.record({ which }).map((c) => named(c, (model) => model.giveUp(c))),
  fc.record({ which }).map((c) => named(c, (model) => model.postpone(c))),
  fc.record({ worker }).map((c) => named(c, (model) => model.takeDue(c))),
  fc
    .record({ key, to: fc.constantFrom(...states), stale: fc.boolean() })
    .map((c) => named(c, (model) => model.settle(c))),
  fc.record({ key, worker }).map((c) => named(c, (model) => model.beginRepeat(c))),
  fc.record({ key, worker }).map((c) => named(c, (model) => model.renew(c))),
  fc.record({ ms: fc.constantFrom(1_000, leaseMs) }).map((c) => named(c, async (model) => model.wait(c))),
)

/** A command that shows itself in a failure's report: `settle {"key":1,…}`. */
function named(argument: object, run: Command): Command {
  const [, method] = /model\.(\w+)\(/.exec(run.toString()) ?? []
  return Object.assign(run, { [fc.toStringMethod]: () => `${method} ${JSON.stringify(argument)}` })
}

/** Random sequences of calls, each answer held against a model that is a few maps. */
export function model(make: MakeStore): void {
  it('answers as a model of maps does, whatever happens in whatever order', async () => {
    const run = async (store: Store, commands: readonly Command[]) => {
      const modelled = new ModelledStore(store)
      for (const one of commands) await one(modelled)
      await modelled.compare()
    }
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 10, maxLength: 60 }), async (commands) => {
        const under = await make()
        try {
          await run(under.store, commands)
        } finally {
          await under.dispose()
        }
      }),
      { numRuns: Number(process.env.COUNTERFOIL_MODEL_RUNS ?? 30) },
    )
  })
}
