import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { examples } from '../packages/counterfoil/src/intake/fixtures/examples.ts'
import * as producers from '../packages/counterfoil/src/intake/producers/index.ts'
import { page, withTables } from '../scripts/producer-docs.ts'

test('the tables of docs/producers.md say what the kinds say of themselves', () => {
  const text = readFileSync(page, 'utf8')
  assert.equal(
    text,
    withTables(text),
    'run: npx node --conditions=counterfoil:source scripts/producer-docs.ts',
  )
})

test('every kind that can be configured is in the tables', () => {
  const calls = new Set(examples.map(({ call }) => call))
  const missing = Object.keys(producers).filter((name) => name !== 'custom' && !calls.has(name as never))
  assert.deepEqual(missing, [])
})

test('a kind says whether its id is signed in one way only', () => {
  for (const { name, kind } of examples) {
    // Where the id is signed, the type may still be unsigned.
    if (kind.provenance === 'signed') assert.ok(kind.about.identitySigned, name)
  }
})
