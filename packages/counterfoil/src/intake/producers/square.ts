import { instantOf, memberOf, partOf, textOf } from '../members.ts'
import type { OfflineKind } from '../producer.ts'
import { checkHeader, hmacKey, hmacText, secretsOf } from '../signature.ts'
import { noFreshness, unordered } from './words.ts'

export interface SquareOptions {
  /** The signature key of the subscription, not an access token. */
  readonly secrets: string | readonly string[]
}

/**
 * Square webhooks. Signed: notification URL and body, one after the other. The older SHA-1 header is never
 * looked at.
 *
 * @throws CounterfoilError `config_invalid` without a secret
 */
export function square(options: SquareOptions): OfflineKind {
  const keys = secretsOf('Square', options.secrets).map(hmacKey)
  return {
    kind: 'square',
    contentTypes: ['application/json'],
    provenance: 'signed',
    volatile: [],
    retryHorizon: '24h',
    maxBytes: 1_048_576,
    signsUrl: true,
    about: {
      signed: 'notification URL, body; HMAC-SHA256 in base64',
      freshness: noFreshness,
      identity: '`event_id`',
      identitySigned: true,
      type: '`type`',
      version: null,
      retries: '11 times within 24 h: 1, 2, 4, 8, 16, 32, 60 min, 2, 4, 8, 8 h',
      ordering: unordered,
      handshake: null,
      expects: '2xx',
      sources: ['https://developer.squareup.com/docs/webhooks/step3validate', 'square 46.0.0'],
    },
    verify: (delivery) =>
      checkHeader(delivery, 'X-Square-HmacSha256-Signature', keys, (key) =>
        hmacText(key, delivery.url, delivery.body, 'base64'),
      ),
    facts: (payload) => ({
      id: textOf(memberOf(payload, 'event_id')),
      source: textOf(memberOf(payload, 'merchant_id')) ?? 'square',
      type: textOf(memberOf(payload, 'type')),
      version: null,
      at: instantOf(memberOf(payload, 'created_at')),
    }),
    data: (payload) => partOf(payload, 'data'),
  }
}
