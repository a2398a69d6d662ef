import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type Duration, inWords, milliseconds } from './duration.ts'

describe('milliseconds', () => {
  const cases: [Duration, number][] = [
    [250, 250],
    [0, 0],
    ['500ms', 500],
    ['30s', 30_000],
    ['1.5s', 1_500],
    ['4.1s', 4_100],
    ['5m', 300_000],
    ['24h', 86_400_000],
    ['30d', 2_592_000_000],
  ]
  for (const [text, ms] of cases) test(`${text} is ${ms}`, () => assert.equal(milliseconds(text), ms))

  const refused = [
    '',
    '5',
    's',
    '5 s',
    '-5s',
    '5S',
    '5w',
    '1e3s',
    'P1D',
    ' 5s',
    '5s\n',
    Number.NaN,
    -1,
    Number.POSITIVE_INFINITY,
    null,
  ]
  for (const text of refused) {
    test(`refuses ${JSON.stringify(text)}`, () => {
      assert.throws(() => milliseconds(text as Duration), {
        name: 'CounterfoilError',
        code: 'config_invalid',
      })
    })
  }
})

describe('inWords', () => {
  const cases: [number, string][] = [
    [0, '0ms'],
    [250, '250ms'],
    [999.6, '1s'],
    [1_500, '1.5s'],
    [100_000, '100s'],
    [90_000_000, '25h'],
    [77_760_000, '21.6h'],
    [86_400_000, '1d'],
    [86_400_001, '86400001ms'],
  ]
  for (const [ms, words] of cases) test(`${ms} is ${words}`, () => assert.equal(inWords(ms), words))

  test('says exactly what it was given', () => {
    fc.assert(fc.property(fc.nat(4_000_000_000), (ms) => milliseconds(inWords(ms) as Duration) === ms))
    const units = fc.constantFrom('ms', 's', 'm', 'h', 'd')
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 99 }), units, (count, unit) => {
        const ms = milliseconds(`${count}${unit}` as Duration)
        return milliseconds(inWords(ms) as Duration) === ms && inWords(ms).length <= 5
      }),
    )
  })
})
