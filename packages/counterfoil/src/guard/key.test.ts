import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { maxKeyLength, parseKey, scopedId } from './key.ts'
import { parseTime } from './time.ts'

test('a key is a quoted string of RFC 8941 or bare visible ASCII', () => {
  const cases: [string, string | undefined][] = [
    ['"8e03978e-40d5-43e8-bc93-6894a57f9324"', '8e03978e-40d5-43e8-bc93-6894a57f9324'],
    ['8e03978e-40d5-43e8-bc93-6894a57f9324', '8e03978e-40d5-43e8-bc93-6894a57f9324'],
    ['  cf_abc-DEF_09  ', 'cf_abc-DEF_09'],
    ['"a\\"b\\\\c"', 'a"b\\c'],
    ['"a,b"', 'a,b'],
    ['""', undefined],
    ['', undefined],
    ['"a', undefined],
    ['"a"b"', undefined],
    ['"a";x=1', undefined],
    ['"a\\b"', undefined],
    ['"a b"', undefined],
    ['a, b', undefined],
    ['a,b', undefined],
    ['a"b', undefined],
    ['é', undefined],
    ['x'.repeat(maxKeyLength), 'x'.repeat(maxKeyLength)],
    ['x'.repeat(maxKeyLength + 1), undefined],
  ]
  for (const [field, key] of cases) assert.equal(parseKey(field), key, field.slice(0, 60))
})

test('every key can be sent quoted, and comes out as it went in', () => {
  const visible = fc.string({
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
    minLength: 1,
    maxLength: maxKeyLength,
  })
  fc.assert(
    fc.property(visible, (key) => {
      assert.equal(parseKey(`"${key.replaceAll(/["\\]/g, '\\$&')}"`), key)
    }),
  )
})

test('no two pairs of caller and key have one id, and a domain is no key', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), fc.string(), (caller, key, otherCaller, otherKey) => {
      fc.pre([caller, key, otherCaller, otherKey].every((text) => text.isWellFormed()))
      const same = caller === otherCaller && key === otherKey
      const id = Buffer.from(scopedId('key', caller, key))
      assert.equal(id.equals(scopedId('key', otherCaller, otherKey)), same)
      assert.equal(id.equals(scopedId('domain', caller, key)), false)
    }),
  )
  assert.notDeepEqual(scopedId('key', 'ab', 'c'), scopedId('key', 'a', 'bc'))
})

test('a time is RFC 3339 in UTC', () => {
  const at = Date.UTC(2026, 0, 31, 12)
  assert.equal(parseTime('2026-01-31T12:00:00Z'), at)
  assert.equal(parseTime('2026-01-31T12:00:00.250Z'), at + 250)
  assert.equal(parseTime(new Date(at).toISOString()), at)
  for (const text of [
    '',
    '2026-02-30T12:00:00Z',
    '2026-01-31',
    '2026-01-31T12:00:00',
    '2026-01-31T12:00:00+01:00',
    '2026-01-31T25:00:00Z',
    String(at),
    'now',
  ])
    assert.equal(parseTime(text), undefined, text)
})
