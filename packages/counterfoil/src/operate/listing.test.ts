import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type EffectState, effectStates } from '../domain/index.ts'
import type { EffectView } from '../store/index.ts'
import { compareListing, parseListing } from './listing.ts'

function effect(number: number, state: EffectState, correlation: string | null = null): EffectView {
  const attempt = { number: 1, correlation }
  return {
    id: `eff_${number}`,
    key: `invoice/${number}`,
    idempotencyKey: `cf_${number}`,
    state,
    attempts: [attempt],
    evidence: [],
  } as unknown as EffectView
}

const listing = (...lines: object[]) => parseListing(lines.map((line) => JSON.stringify(line)).join('\n'))

describe("a recipient's listing against the ledger", () => {
  test('agrees by idempotency key, effect key or correlation', () => {
    const effects = [effect(1, 'confirmed'), effect(2, 'confirmed'), effect(3, 'confirmed', 'ch_3')]
    const found = compareListing(
      listing({ key: 'cf_1' }, { key: 'invoice/2' }, { correlation: 'ch_3' }),
      effects,
    )
    assert.deepEqual(found, {
      listed: 3,
      effects: 3,
      agreeing: 3,
      bypassed: [],
      missing: [],
      acted: [],
      repeated: [],
    })
  })

  test('names acts that no effect asked for, with what the listing says of them', () => {
    const { bypassed } = compareListing(listing({ correlation: 'ch_9', amount: 1200 }), [])
    assert.deepEqual(bypassed, [{ line: 1, key: null, correlation: 'ch_9', members: { amount: 1200 } }])
  })

  test('names effects that the recipient does not know, and none that were never confirmed', () => {
    const { missing } = compareListing(
      [],
      [effect(1, 'confirmed'), effect(2, 'unknown'), effect(3, 'refused')],
    )
    assert.deepEqual(missing, [{ id: 'eff_1', key: 'invoice/1', state: 'confirmed' }])
  })

  test('names what acted against the ledger, and what acted twice', () => {
    const effects = [effect(1, 'unknown'), effect(2, 'confirmed')]
    const found = compareListing(listing({ key: 'cf_1' }, { key: 'cf_2' }, { key: 'cf_2' }), effects)
    assert.deepEqual(found.acted, [{ id: 'eff_1', key: 'invoice/1', state: 'unknown', line: 1 }])
    assert.deepEqual(found.repeated, [{ id: 'eff_2', key: 'invoice/2', state: 'confirmed', lines: [2, 3] }])
    assert.equal(found.agreeing, 0)
  })

  test('leaves nothing out: every line and every confirmed effect is in one place', () => {
    const effects = fc.array(fc.constantFrom(...effectStates), { maxLength: 6 })
    const keys = fc.array(fc.integer({ min: 0, max: 8 }), { maxLength: 8 })
    fc.assert(
      fc.property(effects, keys, (states, listed) => {
        const ledger = states.map((state, index) => effect(index, state))
        const found = compareListing(listing(...listed.map((number) => ({ key: `cf_${number}` }))), ledger)
        const known = listed.filter((number) => number < states.length)
        assert.equal(found.bypassed.length + known.length, listed.length)
        const confirmed = states.filter((state) => state === 'confirmed').length
        const twice = found.repeated.filter(({ state }) => state === 'confirmed').length
        assert.equal(found.agreeing + found.missing.length + twice, confirmed)
      }),
    )
  })

  const broken: [string, RegExp][] = [
    ['{"key":"a"}\nnot json', /^Line 2 .*no JSON object/],
    ['[1]', /^Line 1 .*no JSON object/],
    ['\n{"amount":1}', /^Line 2 .*neither/],
    ['{"key":7}', /^Line 1 .*no text/],
  ]
  for (const [text, message] of broken)
    test(`is refused as a whole when it reads ${JSON.stringify(text)}`, () =>
      assert.throws(() => parseListing(text), { code: 'usage_invalid', message }))
})
