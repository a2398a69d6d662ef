import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sign as signGitHub, verify as verifyGitHub } from '@octokit/webhooks-methods'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import Stripe from 'stripe'
import { deliveryOf } from '../fixtures/senders.ts'
import { github, standardWebhooks, stripe } from './index.ts'

/** The vendors' own packages sign; we verify. What we refuse of theirs would be lost deliveries. */

const now = Math.floor(Date.now() / 1000)
const payload = fc.oneof(fc.json(), fc.string({ unit: 'grapheme', minLength: 1 }))
const bytes = (min: number, max: number) => fc.uint8Array({ minLength: min, maxLength: max })
const word = fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/)

describe('what the official packages sign is accepted, and nothing near it', () => {
  test('standardwebhooks', () => {
    fc.assert(
      fc.property(
        payload,
        bytes(24, 64),
        word,
        fc.integer({ min: -300, max: 300 }),
        (body, key, id, skew) => {
          const secret = `whsec_${Buffer.from(key).toString('base64')}`
          const at = now + skew
          const webhook = new Webhook(secret)
          const headers = {
            'webhook-id': id,
            'webhook-timestamp': String(at),
            'webhook-signature': webhook.sign(id, new Date(at * 1000), body),
          }
          const kind = standardWebhooks({ secrets: secret })
          assert.equal(kind.verify(deliveryOf(headers, body), now * 1000).kind, 'verified')
          assert.equal(kind.verify(deliveryOf(headers, `${body} `), now * 1000).kind, 'refused')
          assert.equal(
            kind.verify(deliveryOf({ ...headers, 'webhook-id': `${id}x` }, body), now * 1000).kind,
            'refused',
          )
        },
      ),
    )
  })

  test('stripe', () => {
    const { webhooks } = new Stripe('sk_test_none')
    fc.assert(
      fc.property(payload, word, fc.integer({ min: -300, max: 300 }), (body, secret, skew) => {
        const timestamp = now + skew
        const header = webhooks.generateTestHeaderString({ payload: body, secret, timestamp })
        const kind = stripe({ secrets: ['whsec_other', secret] })
        const verify = (text: string) =>
          kind.verify(deliveryOf({ 'stripe-signature': header }, text), now * 1000).kind
        assert.equal(verify(body), 'verified')
        assert.equal(verify(`${body} `), 'refused')
      }),
    )
  })

  test('@octokit/webhooks-methods', async () => {
    await fc.assert(
      fc.asyncProperty(payload, word, async (body, secret) => {
        const signature = await signGitHub(secret, body)
        const kind = github({ secrets: [secret] })
        const verify = (text: string) =>
          kind.verify(deliveryOf({ 'x-hub-signature-256': signature }, text), now * 1000).kind
        assert.equal(verify(body), 'verified')
        assert.equal(await verifyGitHub(secret, `${body} `, signature), false)
        assert.equal(verify(`${body} `), 'refused')
      }),
    )
  })
})
