import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isFaithful, isWhole } from './json-number.ts'

test('a number is carried when the shortest spelling of its double denotes the same decimal', () => {
  const carried = [
    '0',
    '-0',
    '0.0',
    '0e999999999999',
    '1.0',
    '10e-1',
    '1E2',
    '-1.50',
    '0.1',
    '1e23',
    '5e-324',
  ]
  for (const text of [...carried, '9007199254740991', '9007199254740992', '9007199254740994']) {
    assert.equal(isFaithful(text), true, text)
  }
  for (const text of [
    '123456789012345680000',
    '1.7976931348623157e308',
    `1${'0'.repeat(300)}`,
    `0.${'0'.repeat(9)}10`,
  ]) {
    assert.equal(isFaithful(text), true, text)
  }
})

test('a number that a double would change is not carried', () => {
  const changed = [
    '9007199254740993',
    '820982911946154508',
    '1e400',
    '-1e999',
    '1e-400',
    '4.9e-324',
    '1e999999999999',
  ]
  for (const text of [...changed, '123456789.123456789', '333333333.33333329', '0.10000000000000001']) {
    assert.equal(isFaithful(text), false, text)
  }
  // The exact values of the doubles 2^70 and 0.1: other decimals than those that ECMAScript writes for them.
  assert.equal(isFaithful('1180591620717411303424'), false)
  assert.equal(isFaithful('0.1000000000000000055511151231257827021181583404541015625'), false)
})

test('the number rule agrees with exact arithmetic', () => {
  const digits = fc.stringMatching(/^(0|[1-9][0-9]{0,20})$/)
  const fraction = fc.option(fc.stringMatching(/^[0-9]{1,20}$/), { nil: undefined })
  const exponent = fc.option(fc.integer({ min: -350, max: 350 }), { nil: undefined })
  const spelled = fc.tuple(fc.boolean(), digits, fraction, exponent).map(([minus, whole, part, power]) => {
    return `${minus ? '-' : ''}${whole}${part === undefined ? '' : `.${part}`}${power === undefined ? '' : `e${power}`}`
  })
  const ofDouble = fc
    .tuple(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom('', '0', '1', '00000000000000000001'),
    )
    .map(([value, tail]) => {
      const text = String(value)
      return text.includes('.') && !text.includes('e') ? text + tail : text
    })
  fc.assert(
    fc.property(fc.oneof(spelled, ofDouble), (text) => {
      const value = Number(text)
      assert.equal(isFaithful(text), Number.isFinite(value) && isEqual(exact(text), exact(String(value))))
    }),
    { numRuns: 5_000 },
  )
})

test('a number of a million digits takes no more than linear time', () => {
  const began = performance.now()
  for (const text of [
    `1${'0'.repeat(1e6)}1`,
    `0.${'0'.repeat(1e6)}1${'0'.repeat(1e6)}`,
    `1e${'9'.repeat(1e6)}`,
  ]) {
    assert.equal(isFaithful(text), false)
  }
  assert.ok(performance.now() - began < 2_000)
})

test('a whole number is one without fraction and exponent', () => {
  assert.deepEqual(['0', '-12', '1.0', '1e3', '1E3'].map(isWhole), [true, true, false, false, false])
})

/** A decimal as a fraction of whole numbers. */
function exact(text: string): { numerator: bigint; denominator: bigint } {
  const [, sign, whole, part = '', power = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text)!
  const scale = Number(power) - part.length
  const numerator = BigInt(whole! + part) * (sign === '-' ? -1n : 1n)
  return scale >= 0
    ? { numerator: numerator * 10n ** BigInt(scale), denominator: 1n }
    : { numerator, denominator: 10n ** BigInt(-scale) }
}

function isEqual(a: ReturnType<typeof exact>, b: ReturnType<typeof exact>): boolean {
  return a.numerator * b.denominator === b.numerator * a.denominator
}
