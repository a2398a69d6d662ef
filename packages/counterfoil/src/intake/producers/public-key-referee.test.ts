import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { describe, test } from 'node:test'
import sendgridPackage from '@sendgrid/eventwebhook'
import { verifyKey } from 'discord-interactions'
import fc from 'fast-check'
import { deliveryOf } from '../fixtures/senders.ts'
import { discord, sendgrid } from './index.ts'

/** Packages that verify: what they accept of a signature that we made, our kinds accept too. */

const now = Math.floor(Date.now() / 1000)

describe('public keys', () => {
  test('discord-interactions', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url').toString('hex')
    const kind = discord({ publicKeys: raw, endpoint: 'interactions' })
    await fc.assert(
      fc.asyncProperty(fc.json(), fc.integer({ min: -300, max: 300 }), async (body, skew) => {
        const timestamp = String(now + skew)
        const signature = sign(null, Buffer.from(timestamp + body), privateKey).toString('hex')
        const headers = { 'x-signature-ed25519': signature, 'x-signature-timestamp': timestamp }
        const ours = (text: string) => kind.verify(deliveryOf(headers, text), now * 1000).kind
        assert.equal(await verifyKey(body, signature, timestamp, raw), true)
        assert.equal(ours(body), 'verified')
        assert.equal(await verifyKey(`${body} `, signature, timestamp, raw), false)
        assert.equal(ours(`${body} `), 'refused')
      }),
    )
  })

  test('@sendgrid/eventwebhook', () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const spki = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
    const official = new sendgridPackage.EventWebhook()
    const theirs = official.convertPublicKeyToECDSA(spki)
    const kind = sendgrid({ publicKeys: spki })
    fc.assert(
      fc.property(fc.json(), (json) => {
        const body = `${json}\r\n`
        const timestamp = String(now)
        const signature = sign('sha256', Buffer.from(timestamp + body), privateKey).toString('base64')
        const headers = {
          'x-twilio-email-event-webhook-signature': signature,
          'x-twilio-email-event-webhook-timestamp': timestamp,
        }
        const ours = (text: string) => kind.verify(deliveryOf(headers, text), now * 1000).kind
        assert.equal(official.verifySignature(theirs, body, signature, timestamp), true)
        assert.equal(ours(body), 'verified')
        assert.equal(official.verifySignature(theirs, json, signature, timestamp), false)
        assert.equal(ours(json), 'refused')
      }),
      // Their elliptic curve is written in JavaScript.
      { numRuns: 10 },
    )
  })
})
