import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { logLine, maxLogLine, maxLogText } from './log-line.ts'

describe('a log line', () => {
  test('is one line of ASCII that reads as what was logged', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const line = logLine(0, 'warn', 'message', { text })
        assert.match(line, /^[\x20-\x7e]+$/)
        assert.equal((JSON.parse(line) as { text: string }).text, text.length > maxLogText ? undefined : text)
      }),
    )
  })

  test('shows look-alikes and turned directions for what they are', () => {
    assert.match(logLine(0, 'warn', 'm', { producer: 'p\u0430ypal\u202e' }), /"p\\u0430ypal\\u202e"/)
  })

  test('is bounded, in each text and as a whole', () => {
    const long = logLine(0, 'error', 'm', { text: 'x'.repeat(50_000), n: 5n })
    assert.ok(long.length < maxLogText + 200)
    assert.equal((JSON.parse(long) as { n: string }).n, '5')
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`f${at}`, 'x'.repeat(100)]))
    const line = logLine(0, 'error', 'm', many)
    assert.ok(line.length < maxLogLine)
    assert.match(line, /leftOut/)
  })
})
