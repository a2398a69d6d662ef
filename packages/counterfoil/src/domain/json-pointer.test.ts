import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { isPointer, readPointer } from './json-pointer.ts'

// RFC 6901 section 5.
const example = {
  foo: ['bar', 'baz'],
  '': 0,
  'a/b': 1,
  'c%d': 2,
  'e^f': 3,
  'g|h': 4,
  'i\\j': 5,
  'k"l': 6,
  ' ': 7,
  'm~n': 8,
}
const table: [string, unknown][] = [
  ['', example],
  ['/foo', ['bar', 'baz']],
  ['/foo/0', 'bar'],
  ['/', 0],
  ['/a~1b', 1],
  ['/c%d', 2],
  ['/e^f', 3],
  ['/g|h', 4],
  ['/i\\j', 5],
  ['/k"l', 6],
  ['/ ', 7],
  ['/m~0n', 8],
]

describe('readPointer', () => {
  for (const [pointer, value] of table) {
    test(`'${pointer}' as in RFC 6901`, () => assert.deepEqual(readPointer(example, pointer), value))
  }

  const nothing = [
    '/absent',
    '/foo/2',
    '/foo/-',
    '/foo/00',
    '/foo/01',
    '/foo/length',
    '/foo/0/0',
    '/toString',
    '/__proto__',
    '/foo/map',
  ]
  for (const pointer of nothing) {
    test(`'${pointer}' leads to nothing`, () => assert.equal(readPointer(example, pointer), undefined))
  }

  test('what is no pointer reads nothing', () => {
    for (const text of ['foo', 'xfoo', '/m~n', '/m~', '/~2', '#/foo']) {
      assert.equal(isPointer(text), false, text)
      assert.equal(readPointer(example, text), undefined, text)
    }
  })

  test('~01 is ~1 and not a slash', () =>
    assert.equal(readPointer({ '~1': 'yes', '/': 'no' }, '/~01'), 'yes'))

  test('finds every member by its escaped name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (outer, inner) => {
        const token = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1')
        const value = Object.fromEntries([[outer, Object.fromEntries([[inner, 42]])]])
        return readPointer(value, `/${token(outer)}/${token(inner)}`) === 42
      }),
    )
  })

  test('never throws', () => {
    fc.assert(fc.property(fc.jsonValue(), fc.string(), (value, pointer) => void readPointer(value, pointer)))
  })
})
