import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ShapeName, shapes } from '../../packages/counterfoil/src/engine/fixtures/shapes.ts'
import { planting } from './planted.ts'
import { sceneOf } from './scene.ts'

/** Protocol bugs of `test/mutants/mutants.ts`: where each shows first, with how many attempts, and what it breaks. */
const mutants: readonly (readonly [string, ShapeName, number, string])[] = [
  ['a time-out is a failure', 'neither', 1, 'I15, I20: refused, and it acted'],
  ['a time-out is a retry', 'neither', 1, 'I13: planned, and it acted'],
  ['a 5xx is a refusal', 'idempotent', 1, 'I15, I20: refused, and it acted'],
  ['a 5xx did not act', 'neither', 1, 'I13: planned, and it acted'],
  ['a lease that ends is a retry', 'neither', 1, 'I13: planned, and it acted'],
  ['accepted is confirmed', 'accepting', 1, 'I20: confirmed, and nothing acted'],
  ['a fence speaks for earlier attempts', 'conditional', 2, 'I15, I20: fenced, and it acted'],
  ['confirmed moves', 'idempotent', 1, 'I12: confirmed moved to unknown'],
  ['nobody is told of the unknown', 'neither', 1, 'I22: it ends unknown and nobody is told'],
  ['escalation ends the effect', 'idempotent', 1, 'I15, I20: refused, and it acted'],
  ['an unknown effect is forgotten', 'queryable', 1, 'I22: it ends unknown and nobody is told'],
  ['retention of the recipient is ignored', 'idempotent', 2, 'I16: repeated after the key may be forgotten'],
  ['absence is never final', 'queryable', 1, 'I22: there is evidence, and it is left to a person'],
  ['absence is not waited for', 'queryable', 1, 'I13: planned, and it acted'],
  ['absence is always final', 'hinting', 1, 'I13: planned, and it acted'],
  ['forgotten is absent', 'queryable', 1, 'I13: planned, and it acted'],
  ['pending is absent', 'accepting', 1, 'I20: confirmed, and nothing acted'],
  ['withdrawn before the tombstone is confirmed', 'tombstone', 1, 'I15, I20: withdrawn, and it acted'],
  ['a tombstone on what acted withdraws it', 'tombstone', 1, 'I15, I20: withdrawn, and it acted'],
  ['a refused fence is a refusal', 'fence', 1, 'I20: confirmed, and nothing acted'],
]

for (const [name, shape, attempts, broken] of mutants) {
  test(`the model fails where ${name}`, async (t) => {
    const { explore } = await planting(name)
    tell(t, explore(sceneOf(shapes[shape], attempts)), broken)
  })
}

test('the model fails where the lease is not checked before sending', async (t) => {
  const { explore } = await planting('a lease of no matter', {
    file: 'work.ts',
    find: `return state.now < doingOf(state, who, 'begun').leaseUntil`,
    replace: `return doingOf(state, who, 'begun').kind === 'begun'`,
  })
  tell(t, explore(sceneOf(shapes.queryable, 1)), 'I13: planned, and it acted')
})

test('the model fails where a late settle overwrites', async (t) => {
  const { explore } = await planting('an old view', {
    file: 'work.ts',
    find: 'const decision = decide(row, shape.contract,',
    replace: `const seen = fresh ? row : { ...row, state: 'attempting' as const }
  const decision = decide(seen, shape.contract,`,
  })
  tell(t, explore(sceneOf(shapes.idempotent, 1)), 'I12: confirmed moved to unknown')
})

test('the model fails where the attempt is written after the call', async (t) => {
  const { explore } = await planting('a call before its attempt', {
    file: 'work.ts',
    find: 'return withDoing(withEffect(state, effect, begun, who), who, doing)',
    replace: 'return withDoing(state, who, doing)',
  })
  tell(t, explore(sceneOf(shapes.neither, 1)), 'I5: a request without its attempt')
})

test('a story tells the moves from the start, and each worker keeps its name', async () => {
  const { explore } = await planting('a time-out is a failure')
  const { violation } = explore(sceneOf(shapes.neither, 1))
  assert.deepEqual(violation?.story, [
    'event 1 is planned',
    'worker 1 takes effect 1',
    'worker 1 sends',
    'worker 1 gets no answer',
    'the request of attempt 1 of effect 1 arrives and its answer is lost',
  ])
})

function tell(
  t: { diagnostic(message: string): void },
  { violation, states }: ReturnType<typeof import('./explore.ts')['explore']>,
  broken: string,
): void {
  assert.equal(violation?.broken, broken)
  assert.ok(violation.story.length < 25)
  t.diagnostic(`${states} states; ${violation.story.join('; ')}`)
}
