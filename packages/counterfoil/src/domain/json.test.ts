import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { canonicalize } from './canonical.ts'
import { type JsonOptions, type JsonReading, type JsonValue, readJson } from './json.ts'
import { isFaithful } from './json-number.ts'

interface Vector {
  readonly id: string
  readonly input?: string
  readonly inputGenerator?: string
  readonly canonical?: string
  readonly expect: 'accept' | 'reject'
  readonly strictExpect?: string
}
const vectors = JSON.parse(readFileSync(join(import.meta.dirname, 'vectors/jcs.json'), 'utf8')) as Vector[]

const read = (text: string | Uint8Array, options: Partial<JsonOptions> = {}): JsonReading =>
  readJson(typeof text === 'string' ? Buffer.from(text) : text, { numbers: 'double', ...options })
const kind = (text: string | Uint8Array, options: Partial<JsonOptions> = {}) => read(text, options).kind
const value = (text: string, options: Partial<JsonOptions> = {}) => {
  const reading = read(text, options)
  assert.equal(reading.kind, 'read', text)
  return (reading as { value: JsonValue }).value
}

test('a vector of RFC 8785 is read, or is no JSON, or would not be seen as it was sent', () => {
  // What the RFC accepts and writes as another number, or with a member lost.
  const changed = new Set([
    'num-2^53',
    'num-shopify-id',
    'num-shopify-id-b',
    'num-big-decimal',
    'num-underflow',
    'num-max',
  ])
  for (const id of ['cyberphone-values', 'rfc8785-3.2.2']) changed.add(id)
  const beyond = new Set([
    'lone-high-surrogate',
    'lone-low-surrogate-key',
    'num-overflow',
    'num-overflow-neg',
    'deep-nesting-20000',
  ])
  for (const { id, input, inputGenerator, canonical, expect, strictExpect } of vectors) {
    const text = inputGenerator === undefined ? (input ?? '') : (runInNewContext(inputGenerator) as string)
    const reading = read(text)
    const isBeyond = beyond.has(id) || changed.has(id) || strictExpect !== undefined || isLongSample(id, text)
    const expected = isBeyond ? 'notRepresentable' : expect === 'accept' ? 'read' : 'syntax'
    assert.equal(reading.kind, expected, id)
    if (reading.kind === 'read') assert.equal(canonicalize(reading.value), canonical, id)
  }
})

/** Samples of appendix B are written with more digits than their doubles carry. */
function isLongSample(id: string, text: string): boolean {
  return id.startsWith('rfc8785-B-') && text !== '' && !isFaithful(text)
}

test('what is not JSON is a syntax error, with its place', () => {
  const broken: [string, number][] = [
    ['', 0],
    [' ', 1],
    ['\ufeff{}', 0],
    ['{"a":1}x', 7],
    ['[1,]', 3],
    ['{"a":1,}', 7],
    ['{,}', 1],
    ['[', 1],
    ['{"a"', 4],
    ['{"a":', 5],
    ['{"a" 1}', 5],
    ['{a:1}', 1],
    ["{'a':1}", 1],
    ['[1 2]', 3],
    ['[1}', 2],
    ['{"a":1]', 6],
    [']', 0],
    ['NaN', 0],
    ['Infinity', 0],
    ['-', 1],
    ['-a', 1],
    ['01', 1],
    ['-01', 2],
    ['+1', 0],
    ['.5', 0],
    ['1.', 2],
    ['1.e3', 2],
    ['1e', 2],
    ['1e+', 3],
    ['0x10', 1],
    ['tru', 0],
    ['True', 0],
    ['nul', 0],
    ['undefined', 0],
    ['{"a":1/*x*/}', 6],
    ['// x', 0],
    ['"a', 2],
    ['"\\', 1],
    ['"\\"', 3],
    ['"\\x41"', 1],
    ['"\\u12"', 1],
    ['"\\u12g4"', 1],
    ['"\t"', 1],
    ['"a\nb"', 2],
    ['"\0"', 1],
    ['[1]\0', 3],
    ['\u00a0[]', 0],
    ['\f[]', 0],
    ['{"é":x}', 6],
  ]
  for (const [text, offset] of broken) {
    const reading = read(text)
    assert.equal(reading.kind, 'syntax', text)
    assert.equal(reading.kind === 'syntax' && reading.offset, offset, text)
    assert.throws(() => JSON.parse(text), text)
  }
})

test('bytes that are not UTF-8 are a syntax error, with their place (C15)', () => {
  const broken: [number[], number][] = [
    [[0x22, 0xff, 0x22], 1],
    [[0x22, 0xc3, 0xa9, 0xc3, 0x22], 3],
    [[0x22, 0xef, 0xbf, 0xbd, 0xed, 0xa0, 0x80, 0x22], 4],
    [[0x22, 0xc0, 0xaf, 0x22], 1],
    [[0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00], 0],
  ]
  for (const [bytes, offset] of broken) {
    assert.deepEqual(read(Uint8Array.from(bytes)), {
      kind: 'syntax',
      message: 'the text is not UTF-8',
      offset,
    })
  }
  // UTF-16 without a mark is UTF-8 with many zeros, which JSON does not have.
  assert.equal(kind(Buffer.from('{"a":1}', 'utf16le')), 'syntax')
})

test('line ends and white space around the value change nothing (C15)', () => {
  for (const text of ['{"a":1}\n', '{"a":1}\r\n', '\r\n\t {\r\n"a"\t:\r1 } '])
    assert.deepEqual(value(text), { a: 1 })
})

test('only the given bytes are read, not those around them in their buffer', () => {
  const around = Buffer.from('xx[12]34')
  assert.deepEqual(readJson(around.subarray(2, 6), { numbers: 'double' }), { kind: 'read', value: [12] })
  assert.deepEqual(readJson(new Uint8Array(around).subarray(2, 6), { numbers: 'double' }), {
    kind: 'read',
    value: [12],
  })
})

const duplicate = 'an object has two members of this name'
const half = 'a string holds half of a surrogate pair'
const number = 'a double would change the number'

test('what a program would not see as it was sent is not representable, and the first is told', () => {
  const findings: [string, string, string][] = [
    ['{"a":1,"a":2}', duplicate, '/a'],
    ['{"a":1,"a":1}', duplicate, '/a'],
    ['{"a":1,"\\u0061":2}', duplicate, '/a'],
    ['[0,{"o":{"x":1,"y":2,"x":3}}]', duplicate, '/1/o/x'],
    ['{"__proto__":1,"__proto__":2}', duplicate, '/__proto__'],
    ['{"":1,"":2}', duplicate, '/'],
    ['{"a/b":{"~":1,"~":2}}', duplicate, '/a~1b/~0'],
    ['{"😀":1,"\\ud83d\\ude00":2}', duplicate, '/😀'],
    ['"\\ud800"', half, ''],
    ['["a","\\udc00"]', half, '/1'],
    ['["\\ud83d\\ud83d\\ude00"]', half, '/0'],
    ['["\\ud83d \\ude00"]', half, '/0'],
    ['["\\\\ud83d\\ude00"]', half, '/0'],
    ['["\\ud83d","\\ude00"]', half, '/0'],
    ['{"a":{"b":1,"\\uDC00":1}}', half, '/a'],
    ['{"a":[1,9007199254740993]}', number, '/a/1'],
    ['1e400', number, ''],
    ['-1e-400', number, ''],
    ['0.1000000000000000055', number, ''],
    ['{"a":1e400,"b":1,"b":2}', number, '/a'],
    ['{"a":1,"a":1e400}', duplicate, '/a'],
    ['[[],{},{"a":[]},{"a":{},"a":[]}]', duplicate, '/3/a'],
    ['{"a\\u0000\\n":1e400}', number, '/a\ufffd\ufffd'],
  ]
  for (const [text, why, path] of findings) {
    assert.deepEqual(read(text), { kind: 'notRepresentable', why, path }, text)
    assert.doesNotThrow(() => JSON.parse(text))
  }
})

test('the same name in different objects, and pairs of surrogates, are fine', () => {
  for (const text of [
    '[{"a":1},{"a":2}]',
    '{"a":{"a":{"a":1}}}',
    '{"a":":","b":"\\"a\\":1"}',
    '{"a":"a","A":"a"}',
  ]) {
    assert.deepEqual(value(text), JSON.parse(text))
  }
  assert.deepEqual(value('["\\ud83d\\ude00","\\uD83D\\uDE00","\\\\ud83d","😀"]'), [
    '😀',
    '😀',
    '\\ud83d',
    '😀',
  ])
})

test('broken syntax wins over what is not representable, wherever it stands', () => {
  for (const text of [
    '{"a":1,"a":2',
    '{"a":1,"a":2}x',
    '[1e400,01]',
    '["\\ud800",]',
    `${'['.repeat(200)}x`,
  ]) {
    assert.equal(kind(text), 'syntax', text)
  }
})

test('a path to a finding is cut, and safe to store and to show', () => {
  const reading = read(`{"${'😀'.repeat(400)}":1e400}`)
  assert.ok(reading.kind === 'notRepresentable' && reading.path.length <= 500 && reading.path.isWellFormed())
})

test('special names are ordinary own members (C21)', () => {
  const text = '{"__proto__":{"polluted":true},"constructor":1,"hasOwnProperty":2,"toString":null}'
  for (const spelled of [text, text.replace('1', '-0')]) {
    const object = value(spelled) as Record<string, unknown>
    assert.equal(Object.getPrototypeOf(object), Object.prototype)
    assert.deepEqual(Object.keys(object), ['__proto__', 'constructor', 'hasOwnProperty', 'toString'])
    assert.equal((object as { polluted?: unknown }).polluted, undefined)
  }
  assert.equal(({} as { polluted?: unknown }).polluted, undefined)
})

test('members put on Object.prototype by others hide no duplicate', () => {
  Object.defineProperty(Object.prototype, 'polluted', { value: 1, enumerable: true, configurable: true })
  try {
    assert.equal(kind('{"a":1,"a":2}'), 'notRepresentable')
    assert.equal(kind('{"a":1}'), 'read')
  } finally {
    Reflect.deleteProperty(Object.prototype, 'polluted')
  }
})

test('U+0000 in a text is text (C19)', () => {
  assert.deepEqual(value('{"a":"\\u0000"}'), { a: '\0' })
})

test('equal numbers are read alike, and negative zero is zero', () => {
  for (const numbers of ['double', 'lossless'] as const) {
    assert.deepEqual(value('[1,1.0,1e0,10e-1,100E-2]', { numbers }), [1, 1, 1, 1, 1])
    assert.deepEqual(value('[-0,-0.0,0,-0e5,-0.5,-0e999]', { numbers }), [0, 0, 0, 0, -0.5, 0])
    assert.equal(kind('[1e400]', { numbers }), 'notRepresentable')
    assert.equal(kind('[9007199254740993.0]', { numbers }), 'notRepresentable')
    assert.equal(kind('[9007199254740993e0]', { numbers }), 'notRepresentable')
  }
})

test('lossless whole numbers beyond 2^53 - 1 are bigint, and all others are numbers', () => {
  const lossless = { numbers: 'lossless' } as const
  assert.deepEqual(
    value(
      '[9007199254740991,9007199254740992,-9007199254740993,123456789012345680000,1e21,12,0.5,-0]',
      lossless,
    ),
    [9007199254740991, 9007199254740992n, -9007199254740993n, 123456789012345680000n, 1e21, 12, 0.5, 0],
  )
  assert.deepEqual(value('{"id":820982911946154508}', lossless), { id: 820982911946154508n })
  assert.deepEqual(value('[123456789012345680000,-0]'), [123456789012345680000, 0])
  assert.equal(typeof value('1'.repeat(1_000), lossless), 'bigint')
  assert.equal(kind('1'.repeat(1_001), lossless), 'notRepresentable')
  assert.equal(kind('{"a":9007199254740993,"a":1}', lossless), 'notRepresentable')
})

test('as many levels as the limit are read, and one more is not representable', () => {
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const) {
    const nested = (levels: number) => `${open.repeat(levels - 1)}[]${close.repeat(levels - 1)}`
    assert.equal(kind(nested(128)), 'read')
    const reading = read(nested(129))
    assert.ok(reading.kind === 'notRepresentable' && reading.why.includes('128 levels'))
    assert.equal(kind(nested(2), { maxDepth: 1 }), 'notRepresentable')
    assert.equal(kind(nested(1_000), { maxDepth: 1_000 }), 'read')
  }
  assert.equal(kind(`[${'[],'.repeat(500)}"[[[["]`, { maxDepth: 2 }), 'read')
  assert.throws(() => read('1', { maxDepth: 1_001 }), { code: 'internal' })
})

test('10 MB of nesting, of one string or of one number have a stated outcome in flat memory (C21)', () => {
  const size = 10_000_000
  const bodies: [string, JsonReading['kind']][] = [
    ['['.repeat(size), 'syntax'],
    ['{"a":'.repeat(size / 5), 'syntax'],
    ['['.repeat(size / 2) + ']'.repeat(size / 2), 'notRepresentable'],
    [`"${'a'.repeat(size)}"`, 'read'],
    [`"${'\\"'.repeat(size / 2)}"`, 'read'],
    ['1'.repeat(size), 'notRepresentable'],
    [`[1${'0'.repeat(size)}1]`, 'notRepresentable'],
    [`0.${'0'.repeat(size)}`, 'read'],
    [' '.repeat(size), 'syntax'],
  ]
  for (const [body, expected] of bodies) {
    const bytes = Buffer.from(body)
    const before = process.memoryUsage.rss()
    const began = performance.now()
    assert.equal(kind(bytes), expected, body.slice(0, 10))
    assert.ok(performance.now() - began < 5_000, 'no more than linear time')
    assert.ok(process.memoryUsage.rss() - before < 200e6, 'no more than some copies of the body')
  }
})
