import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mutants } from './mutants.ts'
import { runMutants } from './run.ts'
import { knownSeeds } from './seeds.ts'
import { changesOf, mutated, sourceUrl, textOf } from './source.ts'

test('each protocol bug has a name of its own, and its text stands exactly once in what it changes', () => {
  assert.equal(new Set(mutants.map(({ name }) => name)).size, mutants.length)
  for (const mutant of mutants) {
    for (const { file } of changesOf(mutant)) {
      const source = textOf(sourceUrl(file))
      assert.notEqual(mutated(mutant, file, source), source, mutant.name)
    }
  }
})

/** Schedules that are played when the known seed does not catch a bug any more. */
const scanned = Array.from({ length: 2_000 }, (_, seed) => seed)

test('the simulator catches each protocol bug', async () => {
  const known = knownSeeds()
  const results = await runMutants(
    mutants.map((mutant) => ({ mutant, seeds: [known[mutant.name] ?? [], scanned].flat() })),
  )
  const alive = results.filter(({ caught }) => caught === null)
  assert.deepEqual(
    alive.map(({ mutant, error }) => `${mutant.name}${error === null ? '' : `: ${error}`}`),
    [],
    'known seeds are found anew by `npm run mutants -- --fresh --write`',
  )
})
