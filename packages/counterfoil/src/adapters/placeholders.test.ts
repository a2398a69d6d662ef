import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { cutAtPlaceholders } from './placeholders.ts'

test('a statement is cut at its parameters, and nowhere else', () => {
  const statements: [string, (string | number)[]][] = [
    ['select 1', ['select 1']],
    ['select $1, $2, $1', ['select ', 0, ', ', 1, ', ', 0, '']],
    ['select $10::int8', ['select ', 9, '::int8']],
    [`select '$1', "$2", 'it''s $3', $4`, [`select '$1', "$2", 'it''s $3', `, 3, '']],
    [`select e'\\'$1', $2`, [`select e'\\'$1', `, 1, '']],
    ['select $$ $1 $$, $tag$ $$ $2 $tag$, $3', ['select $$ $1 $$, $tag$ $$ $2 $tag$, ', 2, '']],
    ['select 1 -- $1\n, $2 /* $3 */', ['select 1 -- $1\n, ', 1, ' /* $3 */']],
  ]
  for (const [sql, parts] of statements) assert.deepEqual(cutAtPlaceholders(sql), parts, sql)
})

test('put together again, it is the statement that it was', () => {
  const piece = fc.constantFrom(
    '$1',
    '$23',
    "'",
    '"',
    '$$',
    '$a$',
    '--',
    '\n',
    '/*',
    '*/',
    '\\',
    ' e',
    '?',
    'x',
  )
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const sql = pieces.join('')
      const parts = cutAtPlaceholders(sql)
      const again = parts.map((part) => (typeof part === 'number' ? `$${part + 1}` : part)).join('')
      assert.equal(again, sql)
      assert.ok(parts.every((part, index) => (typeof part === 'number') === (index % 2 === 1)))
    }),
  )
})
