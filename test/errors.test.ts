import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { errorCodes } from 'counterfoil'

const root = join(import.meta.dirname, '..')
const source = join(root, 'packages/counterfoil/src')

test('every error code is in the index of docs/errors.md, and nothing else is', () => {
  const text = readFileSync(join(root, 'docs/errors.md'), 'utf8')
  const listed = [...text.matchAll(/^\| `([a-z_]+)` \|/gm)].map((match) => match[1])
  assert.deepEqual([...listed].sort(), Object.keys(errorCodes).sort())
})

test('every error code can happen: some code gives it', () => {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && file !== 'domain/errors.ts',
  )
  const text = files.map((file) => readFileSync(join(source, file), 'utf8')).join('\n')
  const unused = Object.keys(errorCodes).filter(
    (code) => !new RegExp(`['"]${code}['"]|\\b${code}:`).test(text),
  )
  assert.deepEqual(unused, [])
})
