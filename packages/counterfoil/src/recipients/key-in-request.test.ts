import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Contract, IdempotencyKey, KeyPlace } from '../domain/index.ts'
import { decodeRequest, type EffectRequest, encodeRequest } from './stored-request.ts'

const key = 'cf_k/1' as IdempotencyKey
const promises = { remembersFor: '24h', otherPayload: 'refused', replays: 'first-success' } as const
const at = (place: KeyPlace): { readonly contract: Contract } => ({
  contract: { idempotency: { ...promises, ...place } },
})

function sent(request: Partial<EffectRequest>, place: KeyPlace) {
  const whole = { method: 'POST', path: '/payments', ...request }
  const stored = decodeRequest(encodeRequest(whole, at(place), key))
  assert.deepEqual(decodeRequest(encodeRequest(whole, at(place), key)), stored, 'the same bytes each time')
  return { path: stored.path, body: stored.body === null ? null : Buffer.from(stored.body).toString() }
}

describe('the key stands where the contract says', () => {
  test('in a member of the JSON body', () => {
    const { body } = sent({ body: { amount: 1 } }, { pointer: '/idempotency_key' })
    assert.equal(body, '{"amount":1,"idempotency_key":"cf_k/1"}')
  })

  test('deep in it, making the objects on the way', () => {
    const { body } = sent({ body: { meta: { a: 1 } } }, { pointer: '/meta/x~1y/key' })
    assert.equal(body, '{"meta":{"a":1,"x/y":{"key":"cf_k/1"}}}')
  })

  test('in a field of a form', () => {
    const { body } = sent({ body: new URLSearchParams({ Action: 'Run' }) }, { pointer: '/ClientToken' })
    assert.equal(body, 'Action=Run&ClientToken=cf_k%2F1')
  })

  test('in the query', () => {
    assert.equal(
      sent({ path: '/disks?zone=a' }, { query: 'requestId' }).path,
      '/disks?zone=a&requestId=cf_k%2F1',
    )
    assert.equal(sent({ path: '/disks' }, { query: 'requestId' }).path, '/disks?requestId=cf_k%2F1')
  })
})

describe('a request is refused', () => {
  const refused: [string, Partial<EffectRequest>, KeyPlace][] = [
    ['that already holds the key', { body: { idempotency_key: 'mine' } }, { pointer: '/idempotency_key' }],
    ['whose form already holds it', { body: new URLSearchParams({ k: 'mine' }) }, { pointer: '/k' }],
    ['whose query already holds it', { path: '/a?requestId=mine' }, { query: 'requestId' }],
    ['without a body for the key', {}, { pointer: '/k' }],
    ['with a body of bytes', { body: new Uint8Array(2) }, { pointer: '/k' }],
    ['whose member on the way is no object', { body: { meta: 'text' } }, { pointer: '/meta/k' }],
    ['whose body is a list', { body: [1] }, { pointer: '/k' }],
    ['whose form has no such depth', { body: new URLSearchParams() }, { pointer: '/a/b' }],
  ]
  for (const [name, request, place] of refused)
    test(name, () => assert.throws(() => sent(request, place), { code: 'config_invalid' }))
})

describe('a precondition', () => {
  const byHeader = {
    contract: { ordering: { conditional: { header: 'If-Match', rejectedWith: 412 } } },
  } as const
  const byMember = {
    contract: { ordering: { conditional: { pointer: '/version', rejectedWith: 409 } } },
  } as const
  const put = { method: 'PUT', path: '/seats/1' }

  test('has to stand in the request, or repeats would not be safe', () => {
    encodeRequest({ ...put, headers: { 'if-match': '"v1"' } }, byHeader)
    encodeRequest({ ...put, body: { version: 3 } }, byMember)
    assert.throws(() => encodeRequest(put, byHeader), {
      code: 'config_invalid',
      message: /lacks its precondition/,
    })
    assert.throws(() => encodeRequest({ ...put, body: {} }, byMember), { code: 'config_invalid' })
  })
})
