import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Outcome, play } from '../bench/scenarios/play.ts'
import { situations, type Variant } from '../bench/scenarios/situations.ts'
import { system } from '../bench/scenarios/systems/counterfoil.ts'

/** docs/comparison.md's column of Counterfoil: acts, whether someone can tell, and the end of what it did. */
const column: Readonly<Record<string, readonly [acts: number, tells: string, did: RegExp]>> = {
  'answer lost after the act, recipient takes a key': [1, 'yes', /effect confirmed, \d attempts$/],
  'answer lost after the act, recipient can only be asked': [1, 'yes', /one attempt, lookup → confirmed$/],
  'answer lost after the act, neither': [
    1,
    'yes: unknown, and a person is asked to decide',
    /effect unknown, one attempt/,
  ],
  'crash after the act, recipient takes a key': [1, 'yes', /effect confirmed, \d attempts, lease → unknown$/],
  'crash after the act, recipient can only be asked': [
    1,
    'yes',
    /one attempt, lease → unknown, lookup → confirmed$/,
  ],
  'crash after the act, neither': [
    1,
    'yes: unknown, and a person is asked to decide',
    /effect unknown, one attempt, lease → unknown/,
  ],
  'lease expired while paused, recipient takes a key': [1, 'yes', /effect confirmed, \d attempts/],
  'lease expired while paused, recipient can only be asked': [1, 'yes', /effect confirmed, one attempt/],
  'lease expired while paused, neither': [
    1,
    'yes',
    /effect confirmed, one attempt, .*late-answer → confirmed$/,
  ],
  'key pruned at the recipient, key kept for 6 s': [
    1,
    'yes: unknown, and a person is asked to decide',
    /one attempt/,
  ],
  'key pruned at the recipient, key kept for 6 s, can be asked for ever': [
    1,
    'yes',
    /one attempt, .*lookup → confirmed$/,
  ],
  'old event after a new one, recipient compares versions': [1, 'yes', /effect fenced/],
  // Without an ordering control at the recipient nothing here can help; an `order` does not even compile.
  'old event after a new one, it does not': [2, 'no: on record as done', /2 × effect confirmed/],
  'other payload under one key, recipient takes a key; jobs named by operation': [
    1,
    'yes',
    /effect-conflict/,
  ],
  'same id with other bytes, jobs named by event': [1, 'yes', /identity-conflict/],
  'two events for one effect, recipient takes a key; jobs named by event': [
    1,
    'yes',
    /effect confirmed, one attempt$/,
  ],
  'two events for one effect, neither; jobs named by operation': [1, 'yes', /effect confirmed, one attempt$/],
  'replay after retention, finished work kept for 2 s': [1, 'yes', /200 duplicate/],
  'unsupported type': [0, 'yes', /unsupported-type/],
  'poison event, its code throws': [1, 'yes', /plan-failed/],
  'duplicate storm, 200 at once, two processes': [1, 'yes', /199 × 200 duplicate/],
}

const runs = situations.flatMap((situation) =>
  situation.variants
    .filter((variant) => !variant.choice)
    .map((variant) => ({ situation, variant, name: nameOf(situation.name, variant) })),
)

test('in the twelve situations Counterfoil does what the comparison says', { concurrency: 6 }, async (t) => {
  await Promise.all(
    runs.map(({ situation, variant, name }) =>
      t.test(name, async () => check(name, await play(system, situation, variant, { leaseMs: 3_000 }))),
    ),
  )
  assert.deepEqual(
    Object.keys(column),
    runs.map(({ name }) => name),
  )
})

function check(name: string, { acts, tells, did }: Outcome): void {
  const expected = column[name]
  assert.ok(expected, `the comparison lacks '${name}'`)
  assert.deepEqual([acts, tells], expected.slice(0, 2), did)
  assert.match(did, expected[2])
}

function nameOf(situation: string, { name }: Variant): string {
  return name === '' ? situation : `${situation}, ${name}`
}
