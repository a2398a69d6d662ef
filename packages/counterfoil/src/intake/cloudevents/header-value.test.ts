import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { decodeHeaderValue, encodeHeaderValue } from './header-value.ts'

describe('attribute values in headers', () => {
  test('the example of the specification', () => {
    const encoded = 'Euro%20%E2%82%AC%20%F0%9F%98%80'
    assert.equal(encodeHeaderValue('Euro € 😀'), encoded)
    assert.equal(decodeHeaderValue(encoded), 'Euro € 😀')
    assert.equal(decodeHeaderValue(encoded.toLowerCase().replace('euro', 'Euro')), 'Euro € 😀')
  })

  test('any text comes back as it was, through printable ASCII without blanks', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const encoded = encodeHeaderValue(text)
        assert.match(encoded, /^[\x21\x23-\x7e]*$/)
        assert.equal(decodeHeaderValue(encoded), text)
      }),
    )
  })

  test('one round of decoding, and of what needed none', () => {
    assert.equal(decodeHeaderValue('%2541'), '%41')
    assert.equal(decodeHeaderValue('%41b%43'), 'AbC')
    assert.equal(decodeHeaderValue('a b'), 'a b')
  })

  test('quotes of older senders are taken off, with their escapes', () => {
    assert.equal(decodeHeaderValue('"a \\"b\\" \\\\ c"'), 'a "b" \\ c')
    assert.equal(decodeHeaderValue('"%20"'), ' ')
    assert.equal(decodeHeaderValue('a\\b'), 'a\\b')
  })

  test('raw bytes of UTF-8 are what they spell', () => {
    assert.equal(decodeHeaderValue(Buffer.from('é').toString('latin1')), 'é')
  })

  test('what is not UTF-8, or not ended, is refused', () => {
    for (const value of ['%C0%A0', '%ff', '%ED%A0%80', '%', '%4', '%zz', '%+1', '"a', 'a"', '"a\\', '\xff']) {
      assert.equal(decodeHeaderValue(value), undefined, value)
    }
  })
})
