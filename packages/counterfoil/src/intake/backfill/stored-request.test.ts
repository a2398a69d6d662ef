import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readStoredRequest } from './stored-request.ts'

const read = (text: string) => readStoredRequest(Buffer.from(text, 'latin1'))

test('a request is read as it came: method, target, fields and every byte of the body', async () => {
  const stored = read(
    'POST /in/stripe?a=1 HTTP/1.1\r\nHost: x.test\r\nX-Twice: a\r\nx-twice: b\r\nEmpty:\r\n\r\n{"a":\r\n\r\n"\xff"}\n',
  )
  assert.equal(stored.kind, 'request')
  const { arrival } = stored as Extract<typeof stored, { kind: 'request' }>
  assert.deepEqual([arrival.method, arrival.url], ['POST', '/in/stripe?a=1'])
  assert.deepEqual(
    ['host', 'x-twice', 'empty', 'none'].map((name) => arrival.header(name)),
    ['x.test', 'a, b', '', null],
  )
  const reading = await arrival.readBody({ maxBytes: 100, maxReadMs: 1 }, {} as never)
  assert.deepEqual(reading, { kind: 'read', body: Buffer.from('{"a":\r\n\r\n"\xff"}\n', 'latin1') })
  const large = await arrival.readBody({ maxBytes: 5, maxReadMs: 1 }, {} as never)
  assert.equal(large.kind, 'refused')
})

test('line feeds alone will do, and a stated length that fits', () => {
  assert.equal(read('POST / HTTP/1.1\nA: b\nContent-Length: 2\n\n{}').kind, 'request')
  assert.equal(read('POST / HTTP/1.1\r\nA: b\r\n\r\n\n\n').kind, 'request')
})

const malformed = {
  nothing: ['', /empty line/],
  'headers without a body': ['POST / HTTP/1.1\r\nA: b\r\n', /empty line/],
  'a body without a request line': ['A: b\n\n{}', /request line/],
  'another version of HTTP': ['POST / HTTP/2\n\n{}', /request line/],
  'an answer': ['HTTP/1.1 200 OK\n\n{}', /request line/],
  'a line that is no field': ['POST / HTTP/1.1\nno field\n\n{}', /no field/],
  'a folded field': ['POST / HTTP/1.1\nA: b\n c\n\n{}', /no field/],
  chunks: ['POST / HTTP/1.1\nTransfer-Encoding: chunked\n\n2\n{}\n', /transfer coding/],
  'a cut body': ['POST / HTTP/1.1\nContent-Length: 3\n\n{}', /Content-Length/],
} as const
for (const [what, [text, why]] of Object.entries(malformed)) {
  test(`is malformed: ${what}`, () => {
    const stored = read(text)
    assert.equal(stored.kind, 'malformed')
    assert.match((stored as { why: string }).why, why)
  })
}
