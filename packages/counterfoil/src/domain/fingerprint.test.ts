import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { fingerprintBytes, fingerprintJson } from './fingerprint.ts'
import { readJson } from './json.ts'

const ofText = (text: string, numbers: 'double' | 'lossless' = 'double') => {
  const reading = readJson(Buffer.from(text), { numbers })
  return reading.kind === 'read' ? fingerprintJson(reading.value) : reading.kind
}

test('payloads that differ only in spelling have one fingerprint, and two raw ones', () => {
  const [a, b] = ['{"a":1.0,"b":"\\u00e9"}', ' {"b" : "é", "a": 1}\r\n']
  assert.equal(ofText(a), ofText(b))
  assert.notEqual(fingerprintBytes(Buffer.from(a)), fingerprintBytes(Buffer.from(b)))
})

test('a fingerprint is the SHA-256 of the canonical text, or of the bytes', () => {
  const hex = createHash('sha256').update('{"a":"é","b":1}').digest('hex')
  assert.equal(fingerprintJson({ b: 1, a: 'é' }), `jcs-sha256:${hex}`)
  assert.equal(fingerprintBytes(Buffer.from('{"a":"é","b":1}')), `raw-sha256:${hex}`)
})

test('volatile members stay out of the fingerprint', () => {
  const first = { id: 'evt_1', pending_webhooks: 2 }
  const again = { id: 'evt_1', pending_webhooks: 1 }
  const volatile = ['/pending_webhooks']
  assert.notEqual(fingerprintJson(first), fingerprintJson(again))
  assert.equal(fingerprintJson(first, { volatile }), fingerprintJson(again, { volatile }))
  assert.notEqual(
    fingerprintJson(first, { volatile }),
    fingerprintJson({ ...first, id: 'evt_2' }, { volatile }),
  )
})

test('ids beyond 2^53 never collapse: not representable, and apart when numbers are lossless (C20)', () => {
  const [a, b] = ['{"id":9007199254740993}', '{"id":9007199254740992}']
  assert.equal(ofText(a), 'notRepresentable')
  assert.notEqual(ofText(a), ofText(b))
  assert.notEqual(ofText(a, 'lossless'), ofText(b, 'lossless'))
  assert.notEqual(fingerprintBytes(Buffer.from(a)), fingerprintBytes(Buffer.from(b)))
})
