import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { play } from '../bench/scenarios/play.ts'
import { type Situation, situations, type Variant } from '../bench/scenarios/situations.ts'
import { system } from '../bench/scenarios/systems/counterfoil.ts'
import { cellOf, rowOf } from '../bench/scenarios/table.ts'

/** How each row ends in Counterfoil's own records: what makes the cell of docs/comparison.md true. */
const ends: Readonly<Record<string, RegExp>> = {
  'answer lost after the act: recipient takes a key': /effect confirmed, [23] attempts$/,
  'answer lost after the act: recipient can only be asked':
    /effect confirmed, one attempt.*lookup → confirmed$/,
  'answer lost after the act: neither': /effect unknown, one attempt/,
  'crash after the act: recipient takes a key': /effect confirmed, [23] attempts, lease → unknown/,
  'crash after the act: recipient can only be asked':
    /effect confirmed, one attempt, lease → unknown.*lookup → confirmed$/,
  'crash after the act: neither': /effect unknown, one attempt, lease → unknown/,
  'lease expired while paused: recipient takes a key': /effect confirmed, [23] attempts, lease → unknown/,
  'lease expired while paused: recipient can only be asked': /effect confirmed, one attempt, lease → unknown/,
  'lease expired while paused: neither':
    /effect confirmed, one attempt, lease → unknown.*late-answer → confirmed/,
  'key pruned at the recipient: key kept for 6 s': /effect unknown, one attempt, lease → unknown/,
  'key pruned at the recipient: key kept for 6 s, can be asked for ever':
    /effect confirmed, one attempt, .*lookup → confirmed$/,
  'old event after a new one: recipient compares versions': /effect fenced, one attempt/,
  // Without an ordering control at the recipient nothing here can help; there `order` does not even compile.
  'old event after a new one: it does not': /2 × effect confirmed, one attempt/,
  'other payload under one key: recipient takes a key; jobs named by operation':
    /invoice\.paid in quarantine \(effect-conflict\), waiting/,
  'same id with other bytes: jobs named by event':
    /invoice\.paid in quarantine \(identity-conflict\), waiting/,
  'two events for one effect: recipient takes a key; jobs named by event': /→ effect confirmed, one attempt$/,
  'two events for one effect: neither; jobs named by operation': /→ effect confirmed, one attempt$/,
  'replay after retention: finished work kept for 2 s': /200 duplicate/,
  'unsupported type': /invoice\.archived in quarantine \(unsupported-type\), waiting/,
  'duplicate storm: 200 at once, two processes': /199 × 200 duplicate.*→ effect confirmed, one attempt$/,
}

/**
 * Played by the bench alone: a plan that throws is tried for 72 s (engine/planner.test.ts does it in virtual time), and
 * how long one goes on that kills its process is up to whatever restarts that.
 */
const byTheBenchAlone = 'poison event'

interface Run {
  readonly row: string
  readonly situation: Situation
  readonly variant: Variant
}

const runs: readonly Run[] = situations
  .flatMap((situation) =>
    situation.variants
      .filter(({ choice }) => choice === undefined)
      .map((variant) => ({
        row: rowOf({ situation: situation.name, variant: variant.name }),
        situation,
        variant,
      })),
  )
  .filter(({ situation }) => situation.name !== byTheBenchAlone)

/** The cells of Counterfoil in the page's first table of situations, by row. */
const cells = new Map(
  readFileSync(join(import.meta.dirname, '../docs/comparison.md'), 'utf8')
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter(([, row = '']) => row in ends)
    .map(([, row = '', cell = '']) => [row, cell]),
)

test('the comparison has a row for each situation, and this test an end for each', () => {
  const rows = runs.map(({ row }) => row).sort()
  assert.deepEqual([...cells.keys()].sort(), rows)
  assert.deepEqual(Object.keys(ends).sort(), rows)
})

test('on real processes Counterfoil does what its column of the comparison says', {
  concurrency: 6,
}, async (t) => {
  const all = runs.map(({ row, situation, variant }) =>
    t.test(row, async () => {
      const outcome = await play(system, situation, variant, { leaseMs: 3_000 })
      assert.equal(cellOf(outcome), cells.get(row), outcome.did)
      assert.match(outcome.did, ends[row]!)
    }),
  )
  await Promise.all(all)
})
