import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { recipientsPage, recipientsPath } from '../scripts/recipients-page.ts'

test('docs/recipients.md is what the catalogue gives', () => {
  assert.equal(readFileSync(recipientsPath, 'utf8'), recipientsPage(), 'run: npm run docs:recipients')
})
