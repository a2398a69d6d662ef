import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { printable } from './printable.ts'

describe('text of strangers', () => {
  test('is shown as it is where it is plain', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii' }), (text) => assert.equal(printable(text), text)),
    )
  })

  test('shows what looks like another, is invisible, turns the line or speaks to a terminal', () => {
    assert.equal(printable('p\u0430ypal'), 'p\\u{430}ypal')
    assert.equal(printable('a\u200bb'), 'a\\u{200b}b')
    assert.equal(printable('a\u202eb'), 'a\\u{202e}b')
    assert.equal(printable('\u001b[2J\r\n'), '\\u{1b}[2J\\u{d}\\u{a}')
    assert.equal(printable('\u009b2J'), '\\u{9b}2J')
    assert.equal(printable('😀'), '\\u{1f600}')
    assert.equal(printable('\ud800'), '\\u{d800}')
    assert.equal(printable('é'), '\\u{e9}')
    assert.equal(printable('e\u0301'), 'e\\u{301}')
  })

  test('holds nothing but printable ASCII, and different texts stay different', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (one, other) => {
        fc.pre(!one.includes('\\') && !other.includes('\\'))
        assert.match(printable(one), /^[\x20-\x7e]*$/)
        assert.equal(printable(one) === printable(other), one === other)
      }),
    )
  })

  test('leaves characters of our own as they are', () => {
    assert.equal(printable('a → b…', '→…'), 'a → b…')
  })
})
