import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { canonicalize } from './canonical.ts'
import type { JsonValue } from './json.ts'

interface Vector {
  readonly id: string
  readonly input?: string
  readonly inputGenerator?: string
  readonly ieee754?: string
  readonly canonical?: string
  readonly sha256?: string
  readonly expect: 'accept' | 'reject'
}
const vectors = JSON.parse(readFileSync(join(import.meta.dirname, 'vectors/jcs.json'), 'utf8')) as Vector[]

const name = fc.oneof(
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    'length',
    '10',
    '9',
    '',
    '\uffff',
    '😀',
    '"',
    '\\',
    '\u2028',
  ),
  fc.string({ unit: 'binary', maxLength: 6 }),
)
const { value: anyValue } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(null, true, false, 0, -0, 1e21, 1e-7),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.string({ unit: 'binary' }),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.array(fc.tuple(name, tie('value')), { maxLength: 6 }).map((members) => Object.fromEntries(members)),
  ),
}))

/** RFC 8785 as one would write it down. */
function reference(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(reference).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const names = Object.keys(value).sort((a, b) => (a < b ? -1 : 1))
    return `{${names.map((n) => `${JSON.stringify(n)}:${reference((value as Record<string, JsonValue>)[n]!)}`).join(',')}}`
  }
  return JSON.stringify(value)
}

/** The same members, added the other way round, at every level. */
function reversed(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([n, member]) => [n, reversed(member as JsonValue)]),
  )
}

test('every vector of RFC 8785 has its canonical text and digest', () => {
  assert.equal(vectors.length, 65)
  for (const { id, input, canonical, sha256, expect } of vectors) {
    if (expect !== 'accept') continue
    const text = canonicalize(JSON.parse(input!) as JsonValue)
    assert.equal(text, canonical, id)
    assert.equal(createHash('sha256').update(text).digest('hex'), sha256, id)
  }
})

test('every vector that RFC 8785 rejects is no JSON or has no canonical text', () => {
  for (const { id, input, inputGenerator, ieee754, expect } of vectors) {
    if (expect !== 'reject') continue
    const value = () =>
      ieee754 === undefined
        ? (JSON.parse(
            inputGenerator === undefined ? (input ?? '') : runInNewContext(inputGenerator),
          ) as JsonValue)
        : Buffer.from(ieee754, 'hex').readDoubleBE()
    assert.throws(() => canonicalize(value()), id)
  }
})

test('the doubles of RFC 8785 appendix B are written as it says', () => {
  const samples = vectors.filter(({ ieee754, expect }) => ieee754 !== undefined && expect === 'accept')
  assert.equal(samples.length, 24)
  for (const { ieee754, canonical } of samples) {
    assert.equal(canonicalize(Buffer.from(ieee754!, 'hex').readDoubleBE()), canonical)
  }
})

test('the canonical text agrees with a plain recursive reading of the RFC', () => {
  fc.assert(
    fc.property(anyValue, (value) => assert.equal(canonicalize(value), reference(value))),
    { numRuns: 2_000 },
  )
})

test('a canonical text read again has the same canonical text', () => {
  fc.assert(
    fc.property(anyValue, (value) => {
      const text = canonicalize(value)
      assert.equal(canonicalize(JSON.parse(text) as JsonValue), text)
    }),
    { numRuns: 2_000 },
  )
})

test('the order of members does not matter', () => {
  fc.assert(
    fc.property(anyValue, (value) => assert.equal(canonicalize(reversed(value)), canonicalize(value))),
  )
})

test('a bigint is written as its digits', () => {
  assert.equal(
    canonicalize({ id: 9007199254740993n, less: -(10n ** 30n) }),
    `{"id":9007199254740993,"less":-1${'0'.repeat(30)}}`,
  )
})

test('what JSON cannot hold is refused, and the message says where it is', () => {
  const cycle: Record<string, unknown> = {}
  cycle.again = cycle
  const unfit: [unknown, RegExp][] = [
    [undefined, /undefined, found at ''/],
    [{ a: [1, { b: undefined }] }, /undefined, found at '\/a\/1\/b'/],
    [[Number.NaN], /NaN, found at '\/0'/],
    [{ 'a/b~': Number.NEGATIVE_INFINITY }, /-Infinity, found at '\/a~1b~0'/],
    [{ a: () => 1 }, /function/],
    [{ a: Symbol('a') }, /symbol/],
    [{ at: new Date(0) }, /an object of a class, found at '\/at'/],
    [new Map([['a', 1]]), /an object of a class/],
    [['\ud800'], /half of a surrogate pair, found at '\/0'/],
    [{ '\udc00': 1 }, /half of a surrogate pair in a name, found at ''/],
    // biome-ignore lint/suspicious/noSparseArray: a hole is what is looked for
    [[1, , 2], /undefined, found at '\/1'/],
    [cycle, /more than 1000 levels/],
  ]
  for (const [value, message] of unfit) {
    assert.throws(() => canonicalize(value as JsonValue), { code: 'internal', message })
    assert.throws(() => canonicalize({ id: 1, value } as JsonValue, ['/id']), { code: 'internal' })
  }
})

test('plain objects of another realm and without a prototype are plain', () => {
  assert.equal(canonicalize(runInNewContext('({ b: 1, a: [{}] })') as JsonValue), '{"a":[{}],"b":1}')
  assert.equal(canonicalize(Object.assign(Object.create(null), { b: 1, a: 2 }) as JsonValue), '{"a":2,"b":1}')
})

test('a thousand levels are written, and one more is refused', () => {
  const nested = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as JsonValue
  assert.equal(canonicalize(nested(1_000)).length, 2_000)
  assert.throws(() => canonicalize(nested(1_001)), { code: 'internal' })
})

test('volatile members are left out wherever their pointers lead', () => {
  const event = {
    id: 'evt_1',
    pending_webhooks: 1,
    data: { seen: 1, kept: 2, 'a/b': 3 },
    list: [{ n: 1 }, { n: 2, m: 3 }],
  }
  const without = (...volatile: string[]) => JSON.parse(canonicalize(event, volatile)) as unknown
  const { pending_webhooks, ...others } = event
  assert.equal(pending_webhooks, 1)
  assert.deepEqual(without('/pending_webhooks'), others)
  assert.deepEqual(without('/pending_webhooks', '/data/seen', '/data/a~1b'), { ...others, data: { kept: 2 } })
  assert.deepEqual(without('/data', '/data/seen'), without('/data/seen', '/data'))
  assert.deepEqual(without('/data', '/data/seen', '/list', '/id'), { pending_webhooks: 1 })
  assert.deepEqual(without('/list/1/n'), { ...event, list: [{ n: 1 }, { m: 3 }] })
  assert.deepEqual(without('/list/0'), { ...event, list: [{ n: 2, m: 3 }] })
  assert.deepEqual(without('/nothing', '/id/deeper', '/data/nothing/at/all', '/__proto__', '/list/7'), event)
  for (const pointer of ['', 'id', '/a~2']) assert.throws(() => without(pointer), { code: 'internal' })
})

test('a canonical text without volatile members is that of the value without them', () => {
  fc.assert(
    fc.property(anyValue, name, anyValue, (value, volatile, other) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return
      const pointer = `/${volatile.replaceAll('~', '~0').replaceAll('/', '~1')}`
      const rest = Object.entries(value).filter(([n]) => n !== volatile)
      const expected = canonicalize(Object.fromEntries(rest) as JsonValue)
      assert.equal(canonicalize(value, [pointer]), expected)
      assert.equal(
        canonicalize(Object.fromEntries([...rest, [volatile, other]]) as JsonValue, [pointer]),
        expected,
      )
    }),
    { numRuns: 2_000 },
  )
})
