import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, test } from 'node:test'
import { type JWK, type JWTPayload, SignJWT } from 'jose'
import { CounterfoilError } from '../domain/index.ts'
import { keyServer } from './fixtures/key-server.ts'
import { jwksKey, verifyJwt } from './jwt.ts'

const now = 1_767_225_600
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const publicJwk: JWK = { ...(rsa.publicKey.export({ format: 'jwk' }) as JWK), kid: 'a', alg: 'RS256' }
const rules = { algorithms: ['RS256'], issuers: ['https://issuer'], audience: 'us', maxAgeSeconds: 300 }
const claims: JWTPayload = { iss: 'https://issuer', aud: 'us', iat: now, exp: now + 3_600 }

const sign = (payload: JWTPayload, header: object = {}) =>
  new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid: 'a', ...header }).sign(rsa.privateKey)

async function verdict(token: string | null, about: object = {}, key: JWK | null = publicJwk) {
  const found = await verifyJwt(token, async () => key, now * 1000, { ...rules, ...about })
  return found.kind === 'claims' ? 'claims' : found.code
}

describe('a token counts', () => {
  test('when key, issuer, audience and time are those that are asked for', async () => {
    assert.equal(await verdict(await sign(claims)), 'claims')
  })

  test('and not for another issuer or audience, or without one', async () => {
    for (const other of [
      { iss: 'https://other' },
      { aud: 'them' },
      { aud: ['them'] },
      { iss: undefined },
      { aud: undefined },
    ]) {
      assert.equal(await verdict(await sign({ ...claims, ...other } as JWTPayload)), 'signature_invalid')
    }
  })

  test('to the second: not at its end, not older than is asked, not from the future', async () => {
    const at = async (about: JWTPayload) => verdict(await sign({ ...claims, ...about }))
    assert.equal(await at({ exp: now + 1 }), 'claims')
    assert.equal(await at({ exp: now }), 'timestamp_stale')
    assert.equal(await at({ iat: now - 300 }), 'claims')
    assert.equal(await at({ iat: now - 301 }), 'timestamp_stale')
    assert.equal(await at({ iat: now + 60 }), 'claims')
    assert.equal(await at({ iat: now + 61 }), 'timestamp_stale')
    const { iat, ...undated } = claims
    assert.equal(await verdict(await sign(undated)), 'timestamp_stale', String(iat))
  })

  test('only under an algorithm of ours: none, and the public key as a shared secret, are no signatures', async () => {
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const unsigned = `${encode({ alg: 'none', kid: 'a' })}.${encode(claims)}.`
    assert.equal(await verdict(unsigned), 'signature_invalid')
    const shared = new TextEncoder().encode(JSON.stringify(publicJwk))
    const confused = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'a' }).sign(shared)
    assert.equal(await verdict(confused), 'signature_invalid')
    assert.equal(await verdict(await sign(claims), { algorithms: ['ES256'] }), 'signature_invalid')
  })

  test('and no text that is none, or that names no key', async () => {
    assert.equal(await verdict(null), 'signature_missing')
    for (const text of ['', 'x', 'a.b.c', `${await sign(claims)}.x`, (await sign(claims)).slice(0, -4)]) {
      assert.equal(await verdict(text), 'signature_invalid', text)
    }
    assert.equal(await verdict(await sign(claims, { kid: undefined })), 'signature_invalid')
    assert.equal(await verdict(await sign(claims), {}, null), 'signature_invalid')
  })

  test('a key server that is down is no bad signature', async () => {
    const down = new CounterfoilError('keys_unavailable', 'down')
    const token = await sign(claims)
    await assert.rejects(
      verifyJwt(token, () => Promise.reject(down), now * 1000, rules),
      { code: 'keys_unavailable' },
    )
  })
})

describe('a key set', () => {
  const url = 'https://keys.example/set'

  test('is asked once more for a name that it lacks, and not again for a while: names are the sender’s choice', async () => {
    let served: JWK[] = [publicJwk]
    const { keys, asked, clock } = keyServer(['keys.example'], () => JSON.stringify({ keys: served }))
    assert.equal((await jwksKey(keys, url, 'a'))?.kid, 'a')
    assert.equal(await jwksKey(keys, url, 'b'), null)
    assert.equal(asked.length, 1)
    clock.jump(61_000)
    served = [{ ...publicJwk, kid: 'b' }]
    assert.equal((await jwksKey(keys, url, 'b'))?.kid, 'b')
    assert.equal(asked.length, 2)
  })

  test('that is none holds no key', async () => {
    for (const body of ['', '{}', '[]', '{"keys":{}}', '{"keys":[{"kty":"RSA"}]}']) {
      const { keys } = keyServer(['keys.example'], () => body)
      assert.equal(await jwksKey(keys, url, 'a'), null, body)
    }
  })
})
