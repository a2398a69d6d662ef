import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { mutants } from './mutants.ts'
import { mutated, sourceUrl } from './source.ts'

test('each protocol bug has a name of its own, and its text stands exactly once in what it changes', () => {
  assert.equal(new Set(mutants.map(({ name }) => name)).size, mutants.length)
  for (const mutant of mutants) {
    const source = readFileSync(sourceUrl(mutant), 'utf8')
    assert.notEqual(mutated(mutant, source), source, mutant.name)
  }
})
