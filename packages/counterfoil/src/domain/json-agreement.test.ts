import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readJson } from './json.ts'
import { isFaithful } from './json-number.ts'

const read = (text: string, numbers: 'double' | 'lossless' = 'double') =>
  readJson(Buffer.from(text), { numbers })

/** Pieces that make valid texts, broken ones, and all that is hard to represent. */
const token = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('{', '}', '[', ']', ',', ':', ' ') },
  fc.constantFrom(
    '"a":',
    '"b":',
    '"\\u0061":',
    '"__proto__":',
    '"":',
    '"a"',
    '"😀"',
    '""',
    'true',
    'null',
    'false',
  ),
  fc.constantFrom(
    '0',
    '-0',
    '1',
    '-1.5',
    '1e5',
    '9007199254740993',
    '0.10000000000000001',
    '1e400',
    '123456789012345680000',
  ),
  fc.constantFrom(
    '"\\ud83d\\ude00"',
    '"\\ud83d"',
    '"\\ude00":',
    '"\\\\ud83d\\ude00"',
    '"\\\\"',
    '"\\""',
    '"{"',
    '"\\n"',
    '\\',
    '"',
  ),
)
const name = fc.oneof(
  fc.constantFrom('"a"', '"b"', '"\\u0061"', '"__proto__"', '"\\ud800"'),
  fc.string({ unit: 'binary' }).map((s) => JSON.stringify(s)),
)
const { text: anyText } = fc.letrec<{ text: string }>((tie) => ({
  text: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(
      '0',
      '-0',
      '1',
      '-1.5',
      '1e5',
      '12345678901234567',
      '9007199254740993',
      '0.3',
      '1e400',
      'true',
      'null',
    ),
    fc.constantFrom('"\\ud83d\\ude00"', '"\\ud83d"', '"\\\\ud83d\\ude00"', '"\\""', '"a:b"', '"1e5"'),
    fc.string({ unit: 'binary' }).map((s) => JSON.stringify(s)),
    fc.array(tie('text'), { maxLength: 4 }).map((elements) => `[ ${elements.join(' ,')}]`),
    fc
      .array(fc.tuple(name, tie('text')), { maxLength: 4 })
      .map((m) => `{${m.map(([n, v]) => `${n} :${v}`).join(', ')} }`),
  ),
}))

test('a value that doubles can carry is read as JSON.parse reads it', () => {
  const spaces = fc.constantFrom(undefined, 1, '\t')
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary', maxDepth: 6 }), spaces, (any, space) => {
      const text = JSON.stringify(any, null, space)
      assert.deepEqual(read(text), { kind: 'read', value: JSON.parse(text) })
    }),
    { numRuns: 1_000 },
  )
})

test('a reading agrees with a plain recursive reader, on texts of every kind', () => {
  const soup = fc.array(token, { maxLength: 12 }).map((tokens) => tokens.join(''))
  fc.assert(
    fc.property(
      fc.oneof(anyText, soup),
      fc.constantFrom('double' as const, 'lossless' as const),
      (text, numbers) => {
        const reading = read(text, numbers)
        const expected = reference(text, numbers === 'lossless')
        assert.equal(reading.kind, expected.kind, text)
        if (reading.kind === 'read') assert.deepEqual(reading.value, (expected as { value: unknown }).value)
      },
    ),
    { numRuns: 10_000 },
  )
})

test('a mutated text is a syntax error exactly when JSON.parse throws', () => {
  const mutation = fc.tuple(fc.nat(), fc.nat(3), fc.oneof(token, fc.string({ unit: 'binary', maxLength: 2 })))
  fc.assert(
    fc.property(anyText, fc.array(mutation, { minLength: 1, maxLength: 3 }), (text, mutations) => {
      let mutated = text
      for (const [place, removed, added] of mutations) {
        const at = place % (mutated.length + 1)
        mutated = (mutated.slice(0, at) + added + mutated.slice(at + removed)).toWellFormed()
      }
      assert.equal(read(mutated).kind === 'syntax', throws(mutated), mutated)
    }),
    { numRuns: 10_000 },
  )
})

function throws(text: string): boolean {
  try {
    JSON.parse(text)
    return false
  } catch {
    return true
  }
}

/** The rules again, by recursion over the text and without a thought for speed; syntax is judged by JSON.parse. */
function reference(text: string, lossless: boolean): { kind: string; value?: unknown } {
  if (throws(text)) return { kind: 'syntax' }
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[-0-9][-+.0-9eE]*|[a-z]+|[{}[\]:,]/g)!
  let isWhole = true
  const next = () => tokens.shift()!
  const string = (token: string) => {
    const read = JSON.parse(token) as string
    if (!read.isWellFormed()) isWhole = false
    return read
  }
  const one = (): unknown => {
    const token = next()
    if (token === '[') {
      const elements: unknown[] = []
      while (tokens[0] !== ']') {
        elements.push(one())
        if (tokens[0] === ',') next()
      }
      next()
      return elements
    }
    if (token === '{') {
      const members = new Map<string, unknown>()
      while (tokens[0] !== '}') {
        const name = string(next())
        next()
        if (members.has(name)) isWhole = false
        members.set(name, one())
        if (tokens[0] === ',') next()
      }
      next()
      return Object.fromEntries(members)
    }
    if (token.startsWith('"')) return string(token)
    if (!/^[-0-9]/.test(token)) return JSON.parse(token)
    if (lossless && /^-?\d+$/.test(token)) {
      const exact = BigInt(token)
      return exact >= -(2n ** 53n) + 1n && exact <= 2n ** 53n - 1n ? Number(exact) : exact
    }
    if (!isFaithful(token)) isWhole = false
    return Number(token) === 0 ? 0 : Number(token)
  }
  const value = one()
  return isWhole ? { kind: 'read', value } : { kind: 'notRepresentable' }
}
