import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type LimitOptions, toLimits } from './limits.ts'
import { recipient } from './recipient.ts'

test('limits are what was written, in milliseconds; a limit that was not given is none', () => {
  assert.deepEqual(toLimits('bank', {}), { concurrency: null, rate: null })
  assert.deepEqual(toLimits('bank', { concurrency: 4, rate: { count: 90, per: '1m' } }), {
    concurrency: 4,
    rate: { count: 90, perMs: 60_000 },
  })
})

const unfit: readonly LimitOptions[] = [
  { concurrency: 0 },
  { concurrency: 1.5 },
  { concurrency: Number.POSITIVE_INFINITY },
  { rate: { count: 0, per: '1s' } },
  { rate: { count: 2.5, per: '1s' } },
  { rate: { count: 1, per: 0 } },
  { rate: { count: 1, per: 'soon' as never } },
]
for (const limits of unfit) {
  test(`a limit that would let nothing or anything through is refused: ${JSON.stringify(limits)}`, () => {
    const options = { url: 'https://bank.example', contract: {}, limits }
    assert.throws(() => recipient('bank', options), { code: 'config_invalid' })
  })
}

test('a recipient without limits has none', () => {
  assert.equal(recipient('bank', { url: 'https://bank.example', contract: {} }).limits, undefined)
})
