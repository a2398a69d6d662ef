import type { KeyObject } from 'node:crypto'
import { contentId, instantOfMilliseconds, memberOf, partOf, textOf } from '../members.ts'
import type { Delivery, OfflineKind } from '../producer.ts'
import { checkStamped, hmacKey, hmacText, secretsOf, toleranceOf } from '../signature.ts'
import { unordered } from './words.ts'

export interface ZoomOptions {
  /** The secret token of the app, not the retired verification token. */
  readonly secrets: string | readonly string[]
  /** How far the timestamp may be from now, in both directions. Default 300. */
  readonly toleranceSeconds?: number
}

/**
 * Zoom webhooks. Signed: `v0:timestamp:body`. The answer to Zoom's validation is made with the same key as event
 * signatures: before verification it would sign whatever a stranger asks for.
 *
 * @throws CounterfoilError `config_invalid` without a secret
 */
export function zoom(options: ZoomOptions): OfflineKind {
  const keys = secretsOf('Zoom', options.secrets).map(hmacKey)
  const toleranceSeconds = toleranceOf('Zoom', options.toleranceSeconds)
  return {
    kind: 'zoom',
    contentTypes: ['application/json'],
    provenance: 'signed',
    volatile: [],
    retryHorizon: '2h',
    maxBytes: 1_048_576,
    about: {
      signed: '`v0:` timestamp `:` body, HMAC-SHA256 in hex',
      freshness: 'header `x-zm-request-timestamp`, 300 s',
      identity: 'the content, which holds `event_ts`: there is no id',
      identitySigned: true,
      type: '`event`',
      version: null,
      retries: '3 times: after 5 min, 20 min and 60 min more',
      ordering: unordered,
      handshake:
        '`endpoint.url_validation`, again every 72 h: HMAC of its token, after the signature was verified',
      expects: '200 or 204 within 3 s',
      sources: ['https://developers.zoom.us/docs/api/webhooks/', 'https://github.com/zoom/webhook-sample'],
    },
    verify: (delivery, now) =>
      checkStamped(delivery, now, {
        timestamp: 'X-Zm-Request-Timestamp',
        signature: 'X-Zm-Signature',
        keys,
        toleranceSeconds,
        expect: (key) => signature(key, delivery),
      }),
    handshake(delivery, payload) {
      const plainToken = textOf(memberOf(memberOf(payload, 'payload'), 'plainToken'))
      if (plainToken === null || memberOf(payload, 'event') !== 'endpoint.url_validation') return null
      // The key that Zoom asked with, which need not be the first while one is replaced.
      const asked = keys.find((key) => signature(key, delivery) === delivery.header('x-zm-signature'))
      if (asked === undefined) return null
      const encryptedToken = hmacText(asked, '', plainToken, 'hex')
      return {
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ plainToken, encryptedToken }),
      }
    },
    facts: (payload) => ({
      // Several people may join one meeting in the same millisecond: only the whole tells events apart.
      id: contentId(payload),
      source: textOf(memberOf(memberOf(payload, 'payload'), 'account_id')) ?? 'zoom',
      type: textOf(memberOf(payload, 'event')),
      version: null,
      at: instantOfMilliseconds(memberOf(payload, 'event_ts')),
    }),
    data: (payload) => partOf(payload, 'payload'),
  }
}

function signature(key: KeyObject, delivery: Delivery): string {
  const timestamp = delivery.header('x-zm-request-timestamp') ?? ''
  return `v0=${hmacText(key, `v0:${timestamp}:`, delivery.body, 'hex')}`
}
