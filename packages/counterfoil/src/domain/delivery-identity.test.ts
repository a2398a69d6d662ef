import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkIdentityPart, type DeliveryIdentity, deliveryDigest, encodeParts } from './delivery-identity.ts'

const part = fc.string({ unit: 'binary', maxLength: 8 })
/** Texts that look like the lengths and marks of the encoding. */
const tricky = fc.oneof(part, fc.stringMatching(/^[0-9:]{0,6}$/))

test('an identity part has 1 to 512 characters', () => {
  assert.equal(checkIdentityPart(''), 'is empty')
  assert.equal(checkIdentityPart('a'), undefined)
  assert.equal(checkIdentityPart('a'.repeat(512)), undefined)
  assert.equal(checkIdentityPart('a'.repeat(513)), 'is longer than 512 characters')
  assert.equal(checkIdentityPart('😀'.repeat(257)), 'is longer than 512 characters')
})

test('an identity part holds neither control characters nor half of a surrogate pair, and is text', () => {
  for (const text of ['\0', 'evt_1\n', 'a\x7f', 'a\x85', 'a\x9fb']) {
    assert.equal(checkIdentityPart(text), 'holds a control character')
  }
  for (const text of ['\ud800', 'a\udc00', '\ude00\ud83d']) {
    assert.equal(checkIdentityPart(text), 'holds half of a surrogate pair')
  }
  for (const text of [undefined, null, 7, {}]) assert.equal(checkIdentityPart(text), 'is not text')
  for (const text of ['a b', ' ', 'é', '😀', 'e\u0301', '\u00a0', '__proto__']) {
    assert.equal(checkIdentityPart(text), undefined)
  }
})

test('no two identities share an encoding', () => {
  const identity = fc.tuple(tricky, tricky, tricky)
  fc.assert(
    fc.property(identity, identity, (a, b) => {
      assert.equal(encodeParts(a) === encodeParts(b), JSON.stringify(a) === JSON.stringify(b))
    }),
    { numRuns: 3_000 },
  )
  fc.assert(fc.property(identity, (parts) => assert.deepEqual(decode(encodeParts(parts)), parts)))
})

test('a boundary between parts cannot be moved', () => {
  const digest = (namespace: string, source: string, id: string) => deliveryDigest({ namespace, source, id })
  const digests = [
    digest('a', 'b', 'c'),
    digest('ab', '', 'c'),
    digest('a', '', 'bc'),
    digest('', 'ab', 'c'),
    digest('1:a', 'b', 'c'),
    digest('a', '1:b', 'c'),
    digest('c', 'b', 'a'),
  ]
  assert.equal(new Set(digests).size, digests.length)
})

test('a delivery digest is the same for ever', () => {
  const identity: DeliveryIdentity = { namespace: 'stripe/acct_1', source: 'stripe', id: 'evt_é😀' }
  const encoded = '13:stripe/acct_16:stripe7:evt_é😀'
  assert.equal(deliveryDigest(identity), `del-sha256:${createHash('sha256').update(encoded).digest('hex')}`)
  assert.equal(
    deliveryDigest(identity),
    'del-sha256:01df43e734744fcf2991991fb16f8bd11bee749c435ffe0c9cefd674a0db8fd3',
  )
})

test('a digest is not made of an ill-formed part, which storing would change', () => {
  assert.throws(() => deliveryDigest({ namespace: 'a', source: 'b', id: '\ud800' }), { code: 'internal' })
})

function decode(encoded: string): string[] {
  const parts: string[] = []
  for (let at = 0; at < encoded.length; ) {
    const mark = encoded.indexOf(':', at)
    const end = mark + 1 + Number(encoded.slice(at, mark))
    parts.push(encoded.slice(mark + 1, end))
    at = end
  }
  return parts
}
