import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { effectKey, idempotencyKey, type KeyFormat } from './effect-identity.ts'

const key = effectKey('invoice/481/collect/revision/3')
const anyKey = fc.stringMatching(/^[a-z0-9/:]{1,12}$/).map(effectKey)
const anyRecipient = fc.stringMatching(/^[a-z0-9:]{0,6}$/)

test('an effect key is 1 to 512 characters of well-formed text without control characters', () => {
  for (const text of ['a', 'x'.repeat(512), 'Rechnung/481/über', '😀']) assert.equal(effectKey(text), text)
  for (const text of ['', 'x'.repeat(513), 'a\nb', 'a\0', '\ud800', undefined as unknown as string]) {
    assert.throws(
      () => effectKey(text),
      (error: { code?: string; hint?: string }) =>
        error.code === 'effect_key_invalid' && error.hint !== undefined,
    )
  }
})

// These pin the derivation. A change here is a second key for every effect in every store: never make one.
test('the key of an effect is the same for ever', () => {
  assert.equal(
    idempotencyKey({ recipient: 'provisioning', key }),
    'cf_khChudQklvTA8r0oBGEfs6xU0_MfDOdxoWYQVpk1FSo',
  )
  assert.equal(
    idempotencyKey({ recipient: 'provisioning', key, format: { form: 'uuid' } }),
    'ccb20b1e-9ba7-5cfb-811d-bca3f8d3ffc3',
  )
  const short: KeyFormat = { form: 'text', maxLength: 30, prefix: 'acme-' }
  assert.equal(
    idempotencyKey({ recipient: 'provisioning', key, format: short }),
    'acme-khChudQklvTA8r0oBGEfs6xU0',
  )
  assert.equal(
    idempotencyKey({ recipient: 'payment', key: effectKey('é/😀') }),
    'cf_9qIRKOZYaFwC43UMstnmO31nOu8qDo_SFiBO3vk0ky0',
  )
})

test('nothing but recipient, effect key and format makes a key', () => {
  const plain = idempotencyKey({ recipient: 'provisioning', key })
  const more = { recipient: 'provisioning', key, attempt: 2, at: 1_700_000_000_000, event: 'evt_2' }
  assert.equal(idempotencyKey(more), plain)
  assert.equal(
    idempotencyKey({
      recipient: 'provisioning',
      key,
      format: { form: 'text', maxLength: 64, prefix: 'cf_' },
    }),
    plain,
  )
})

test('two effects have two keys, in every format', () => {
  const formats: KeyFormat[] = [
    { form: 'uuid' },
    { form: 'text', maxLength: 22 },
    { form: 'text', maxLength: 255 },
  ]
  fc.assert(
    fc.property(anyRecipient, anyKey, anyRecipient, anyKey, (recipientA, keyA, recipientB, keyB) => {
      const isOne = recipientA === recipientB && keyA === keyB
      for (const format of formats) {
        const a = idempotencyKey({ recipient: recipientA, key: keyA, format })
        const b = idempotencyKey({ recipient: recipientB, key: keyB, format })
        assert.equal(a === b, isOne)
      }
    }),
  )
  const moved = [
    idempotencyKey({ recipient: 'a', key: effectKey('b/c') }),
    idempotencyKey({ recipient: 'a/b', key: effectKey('c') }),
    idempotencyKey({ recipient: 'a3:b', key: effectKey('/c') }),
  ]
  assert.equal(new Set(moved).size, 3)
})

test('a key fits the format of its recipient', () => {
  fc.assert(
    fc.property(anyRecipient, anyKey, fc.integer({ min: 25, max: 300 }), (recipient, key, maxLength) => {
      const text = idempotencyKey({ recipient, key, format: { form: 'text', maxLength, prefix: 'cf_' } })
      assert.match(text, /^cf_[A-Za-z0-9_-]+$/)
      assert.equal(text.length, Math.min(maxLength, 3 + 43))
      const uuid = idempotencyKey({ recipient, key, format: { form: 'uuid' } })
      assert.match(uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    }),
  )
})

test('a format that leaves fewer than 128 bits is refused', () => {
  const unfit = (maxLength: number, prefix?: string) => {
    const format: KeyFormat = { form: 'text', maxLength, ...(prefix === undefined ? {} : { prefix }) }
    assert.throws(() => idempotencyKey({ recipient: 'r', key, format }), { code: 'idempotency_key_unfit' })
  }
  assert.equal(idempotencyKey({ recipient: 'r', key, format: { form: 'text', maxLength: 22 } }).length, 22)
  for (const maxLength of [21, 0, -1, 24.5, Number.NaN, Number.POSITIVE_INFINITY]) unfit(maxLength)
  unfit(24, 'cf_')
  for (const prefix of ['a b', 'é', 'a\n']) unfit(64, prefix)
})
