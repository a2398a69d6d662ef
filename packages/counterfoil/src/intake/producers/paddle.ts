import { instantOf, memberOf, partOf, textOf } from '../members.ts'
import type { OfflineKind } from '../producer.ts'
import {
  anyMatches,
  checkFreshness,
  hmacKey,
  hmacText,
  maxSignatures,
  noMatch,
  noTimestamp,
  refused,
  secretsOf,
  strictSeconds,
  toleranceOf,
} from '../signature.ts'
import { unordered } from './words.ts'

export interface PaddleOptions {
  /** The secret key of the notification destination, `pdl_ntfset_…`, whole. */
  readonly secrets: string | readonly string[]
  /** How far `ts` may be from now, in both directions. Default 5, as in Paddle's own package. */
  readonly toleranceSeconds?: number
}

/**
 * Paddle Billing notifications. Signed: `ts:body`. While a secret is replaced there are several `h1`, and any
 * of them counts.
 *
 * @throws CounterfoilError `config_invalid` without a secret
 */
export function paddle(options: PaddleOptions): OfflineKind {
  const keys = secretsOf('Paddle', options.secrets).map(hmacKey)
  const tolerance = toleranceOf('Paddle', options.toleranceSeconds ?? 5)
  return {
    kind: 'paddle',
    contentTypes: ['application/json'],
    provenance: 'signed',
    // The same event has another notification id at each destination.
    volatile: ['/notification_id'],
    retryHorizon: '3d',
    maxBytes: 1_048_576,
    about: {
      signed: '`ts` `:` body, HMAC-SHA256 in hex',
      freshness: '`ts` in `Paddle-Signature`, 5 s',
      identity: '`event_id`',
      identitySigned: true,
      type: '`event_type`',
      version: null,
      retries: '60 times within 3 d',
      ordering: `${unordered}; \`occurred_at\` tells it`,
      handshake: null,
      expects: '200 within 5 s',
      sources: [
        'https://developer.paddle.com/webhooks/signature-verification',
        'https://developer.paddle.com/webhooks/respond-to-webhooks',
        '@paddle/paddle-node-sdk 3.10.0',
      ],
    },
    verify(delivery, now) {
      const header = delivery.header('paddle-signature')
      if (header === null) return refused('signature_missing', 'Paddle-Signature is missing')
      // A comma is in a header that was sent twice.
      const items = header.includes(',') ? [] : header.split(';', maxSignatures)
      const times = items.filter((item) => item.startsWith('ts=')).map((item) => item.slice(3))
      const signatures = items.filter((item) => item.startsWith('h1=')).map((item) => item.slice(3))
      const [timestamp = ''] = times
      const seconds = times.length === 1 ? strictSeconds(timestamp) : undefined
      if (seconds === undefined) return noTimestamp
      const expect = (key: (typeof keys)[number]) => hmacText(key, `${timestamp}:`, delivery.body, 'hex')
      if (!anyMatches(signatures, keys, expect)) return noMatch
      return checkFreshness(seconds, now, tolerance)
    },
    facts: (payload) => ({
      id: textOf(memberOf(payload, 'event_id')),
      source: 'paddle',
      type: textOf(memberOf(payload, 'event_type')),
      version: null,
      at: instantOf(memberOf(payload, 'occurred_at')),
    }),
    data: (payload) => partOf(payload, 'data'),
  }
}
