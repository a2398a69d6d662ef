import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { createSigner, httpbis } from 'http-message-signatures'
import twilioPackage from 'twilio'
import { deliveryOf } from '../fixtures/senders.ts'
import type { HttpAlgorithm } from '../http-signature.ts'
import { httpSignatures, twilio } from './index.ts'

/** Packages that sign whole requests; we verify, at the address they were signed for. */

const now = Math.floor(Date.now() / 1000)
const word = fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/)
const text = fc.string({ unit: 'grapheme', maxLength: 20 })

describe('twilio', () => {
  const { getExpectedTwilioSignature, getExpectedBodyHash } = twilioPackage
  const url = 'https://hooks.example/in/twilio?tenant=1'

  test('forms, whatever their parameters hold', () => {
    fc.assert(
      fc.property(
        word,
        fc.dictionary(text, fc.oneof(text, fc.array(text, { minLength: 1 }))),
        (token, fields) => {
          // Half of a pair cannot be sent in UTF-8, and an empty list leaves no trace in a form.
          fc.pre(JSON.stringify(fields).isWellFormed() && !JSON.stringify(fields).includes('\\ud'))
          const pairs = Object.entries(fields).flatMap(([name, value]) =>
            [value].flat().map((one) => [name, one]),
          )
          const body = String(new URLSearchParams(pairs as [string, string][]))
          const headers = {
            'content-type': 'application/x-www-form-urlencoded',
            'x-twilio-signature': getExpectedTwilioSignature(token, url, fields),
          }
          const verify = (form: string) =>
            twilio({ secrets: token }).verify(deliveryOf(headers, form, { url }), 0).kind
          assert.equal(verify(body), 'verified')
          assert.equal(verify(`${body}&added=1`), 'refused')
        },
      ),
    )
  })

  test('other bodies, bound by their hash in the URL', () => {
    fc.assert(
      fc.property(word, fc.json(), (token, body) => {
        const whole = `${url}&bodySHA256=${getExpectedBodyHash(body)}`
        const headers = {
          'content-type': 'application/json',
          'x-twilio-signature': getExpectedTwilioSignature(token, whole, {}),
        }
        const verify = (json: string, at: string = whole) =>
          twilio({ secrets: token }).verify(deliveryOf(headers, json, { url: at }), 0).kind
        assert.equal(verify(body), 'verified')
        assert.equal(verify(`${body} `), 'refused')
        assert.equal(verify(body, url), 'refused')
      }),
    )
  })
})

describe('http-message-signatures', () => {
  const shared = randomBytes(32)
  const pem = { type: 'spki', format: 'pem' } as const
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const [ed, p256, p384] = [
    generateKeyPairSync('ed25519'),
    generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  ]
  const keys = [
    ['hmac-sha256', shared, shared.toString('base64')],
    ['ed25519', ed.privateKey, String(ed.publicKey.export(pem))],
    ['ecdsa-p256-sha256', p256.privateKey, String(p256.publicKey.export(pem))],
    ['ecdsa-p384-sha384', p384.privateKey, String(p384.publicKey.export(pem))],
    ['rsa-pss-sha512', rsa.privateKey, String(rsa.publicKey.export(pem))],
    ['rsa-v1_5-sha256', rsa.privateKey, String(rsa.publicKey.export(pem))],
  ] as const satisfies readonly (readonly [HttpAlgorithm, unknown, string])[]

  for (const [algorithm, privateKey, key] of keys) {
    test(algorithm, async () => {
      await fc.assert(
        fc.asyncProperty(fc.json(), word, word, async (body, path, value) => {
          const url = `https://hooks.example/in/${path}?a=${value}&b=%20x`
          const digest = createHash('sha256').update(body).digest('base64')
          const signed = await httpbis.signMessage(
            {
              key: createSigner(privateKey as never, algorithm, 'it'),
              fields: [
                '@method',
                '@target-uri',
                '@authority',
                '@path',
                '@query',
                '@query-param;name="a"',
                'content-digest',
                'x-it',
              ],
              paramValues: { created: new Date(now * 1000) },
            },
            {
              method: 'POST',
              url,
              headers: { 'content-digest': `sha-256=:${digest}:`, 'x-it': ` ${value} ` },
            },
          )
          const headers = Object.fromEntries(
            Object.entries(signed.headers).map(([name, one]) => [name.toLowerCase(), String(one)]),
          )
          const kind = httpSignatures({ id: '/id', type: '/type', keys: [{ keyid: 'it', algorithm, key }] })
          const verify = (change: { body?: string; method?: string; url?: string } = {}) => {
            const { method = 'POST' } = change
            return kind.verify(
              deliveryOf(headers, change.body ?? body, { method, url: change.url ?? url }),
              now * 1000,
            )
          }
          assert.deepEqual(verify(), { kind: 'verified' })
          assert.equal(verify({ body: `${body} ` }).kind, 'refused')
          assert.equal(verify({ method: 'PUT' }).kind, 'refused')
          assert.equal(verify({ url: `${url}&c=1` }).kind, 'refused')
          assert.equal(verify({ url: url.replace('hooks', 'other') }).kind, 'refused')
        }),
        { numRuns: algorithm.startsWith('rsa') ? 5 : 20 },
      )
    })
  }
})
