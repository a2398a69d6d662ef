import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { standardWebhooks, stripe } from './producers/index.ts'
import {
  anyMatches,
  checkFreshness,
  hmacKey,
  hmacText,
  sameText,
  secretsOf,
  strictBase64,
  strictSeconds,
} from './signature.ts'

const bytes = fc.uint8Array({ maxLength: 200 })

test('a digest covers the prefix and then the raw bytes, whatever they are', () => {
  fc.assert(
    fc.property(bytes, bytes, bytes, (key, prefix, body) => {
      const text = Buffer.from(prefix).toString('latin1')
      const expected = createHmac('sha256', key).update(prefix).update(body).digest('hex')
      assert.equal(hmacText(hmacKey(key), text, body, 'hex'), expected)
    }),
  )
})

test('two texts are the same when they are equal, and never otherwise', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (one, other) => {
      assert.equal(sameText(one, one), true)
      assert.equal(sameText(one, other), one === other)
    }),
  )
  // One code unit each, and another number of bytes.
  assert.equal(sameText('é', 'e'), false)
})

test('any signature under any key will do', () => {
  const keys = ['one', 'two'].map(hmacKey)
  const right = keys.map((key) => hmacText(key, '', Buffer.from('body'), 'hex'))
  const matches = (given: string[]) =>
    anyMatches(given, keys, (key) => hmacText(key, '', Buffer.from('body'), 'hex'))
  assert.equal(matches([right[0]!]), true)
  assert.equal(matches(['x', right[1]!]), true)
  assert.equal(matches(['x', '']), false)
  assert.equal(matches([]), false)
  assert.equal(
    anyMatches([right[0]!], [], () => ''),
    false,
  )
})

test('base64 has one spelling', () => {
  fc.assert(
    fc.property(bytes, (value) => {
      const text = Buffer.from(value).toString('base64')
      assert.deepEqual(strictBase64(text), Buffer.from(value))
      for (const other of [`${text} `, ` ${text}`, `${text}=`, `${text}\n`]) {
        assert.equal(strictBase64(other), undefined)
      }
    }),
  )
  for (const other of ['AA', 'AA=', 'AB==', 'A-_A', 'AAAA=AAA', '*'])
    assert.equal(strictBase64(other), undefined)
})

test('seconds are plain digits', () => {
  assert.equal(strictSeconds('1614265330'), 1_614_265_330)
  for (const text of ['', ' 1', '1 ', '+1', '-1', '1.5', '1e3', '0x1', '1abc', '١', '1234567890123', '1\n']) {
    assert.equal(strictSeconds(text), undefined, JSON.stringify(text))
  }
})

test('freshness is counted in both directions, and a clock of milliseconds rounds down', () => {
  assert.equal(checkFreshness(1_000, 1_300_999, 300).kind, 'verified')
  assert.equal(checkFreshness(1_000, 1_301_000, 300).kind, 'refused')
  assert.equal(checkFreshness(1_300, 1_000_000, 300).kind, 'verified')
  assert.equal(checkFreshness(1_301, 1_000_999, 300).kind, 'refused')
})

test('a list of secrets is copied: changing it later changes nothing', () => {
  const list = ['one']
  const held = secretsOf('test', list)
  list[0] = 'two'
  assert.deepEqual(held, ['one'])
})

test('a Standard Webhooks secret of a wrong form is refused, and quoted nowhere', () => {
  for (const secret of [
    'whsec_not base64 but secret',
    'whpk_c2hvcnQ=',
    'whsk_c2VjcmV0IHNlY3JldCBzZWNyZXQ=',
    'whsec_c2hvcnQ=',
  ]) {
    assert.throws(
      () => standardWebhooks({ secrets: secret }),
      (error: Error & { code?: string }) => {
        assert.equal(error.code, 'config_invalid')
        assert.ok(!inspect(error, { depth: 9 }).includes(secret.slice(secret.indexOf('_') + 1)))
        return true
      },
    )
  }
})

test('a tolerance that switches the check off is refused', () => {
  const secret = 'whsec_d3Jvbmcgc2VjcmV0IHdyb25nIHNlY3JldA=='
  for (const toleranceSeconds of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(() => standardWebhooks({ secrets: secret, toleranceSeconds }), { code: 'config_invalid' })
    assert.throws(() => stripe({ secrets: secret, toleranceSeconds }), { code: 'config_invalid' })
  }
})
