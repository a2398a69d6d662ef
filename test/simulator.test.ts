import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FaultKind, faultKinds, invariants, shapeNames, simulate, Tally } from 'counterfoil/testing'

/**
 * The engine that ships under schedules of faults (docs/simulator.md). `COUNTERFOIL_SIMULATED_SEEDS` schedules, from
 * `COUNTERFOIL_SEED`; a failing one is told by `npm run simulate -- --seed N`.
 */
const from = Number(process.env.COUNTERFOIL_SEED ?? 0)
const seeds = Number(process.env.COUNTERFOIL_SIMULATED_SEEDS ?? 2_000)

test(`no schedule of seeds ${from} to ${from + seeds - 1} breaks a promise, and every fault and contract shape is met`, async () => {
  const tally = new Tally()
  for (let seed = from; seed < from + seeds; seed++) {
    const simulated = await simulate(seed)
    tally.add(simulated)
    const [first] = simulated.violations
    assert.equal(
      first,
      undefined,
      `npm run simulate -- --seed ${seed}: ${first?.invariant} ${first?.about}: ${first?.says}`,
    )
  }
  assert.ok(tally.faults >= seeds * 30, `${tally.faults / seeds} faults a schedule`)
  const unmet = (Object.keys(faultKinds) as FaultKind[]).filter((kind) => !tally.byFault.has(kind))
  assert.deepEqual(unmet, [])
  assert.deepEqual(
    shapeNames.filter((shape) => !tally.byShape.has(shape)),
    [],
  )
  // Nothing here is beyond retention or a backfill: the checks of I18 and I19 have only planted histories.
  const idle = invariants.filter((invariant) => tally.byInvariant.get(invariant) === 0)
  assert.deepEqual(idle, ['I18', 'I19'])
})
