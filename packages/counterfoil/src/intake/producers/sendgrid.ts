import { elementsOf, instantOf, memberOf, textOf } from '../members.ts'
import type { OfflineKind } from '../producer.ts'
import { isSignedBy, publicKeysOf, spkiKey } from '../public-key.ts'
import {
  checkFreshness,
  noMatch,
  noTimestamp,
  refused,
  strictBase64,
  strictSeconds,
  toleranceOf,
} from '../signature.ts'
import { unordered } from './words.ts'

export interface SendGridOptions {
  /** The verification key of the webhook, base64 as shown; both while it is replaced. */
  readonly publicKeys: string | readonly string[]
  /**
   * How far the timestamp may be from now, in both directions. Default a day, the time of its retries: whether a
   * retry gets a timestamp of its own is not documented.
   */
  readonly toleranceSeconds?: number
}

/**
 * SendGrid event webhooks: each carries many events. Signed with ECDSA: timestamp and raw body, to the last line
 * feed. An ECDSA signature can be respelled by anyone, so it is never an identity.
 *
 * @throws CounterfoilError `config_invalid` without a key, or with one that is none
 */
export function sendgrid(options: SendGridOptions): OfflineKind {
  const keys = publicKeysOf('SendGrid', options.publicKeys, 'an EC key in base64', (text) =>
    spkiKey(text, 'ec'),
  )
  const tolerance = toleranceOf('SendGrid', options.toleranceSeconds ?? 86_400)
  return {
    kind: 'sendgrid',
    contentTypes: ['application/json'],
    provenance: 'signed',
    volatile: [],
    retryHorizon: '24h',
    maxBytes: 2 * 1_048_576,
    about: {
      signed: 'timestamp, body; ECDSA P-256 with SHA-256, in base64',
      freshness: 'header `X-Twilio-Email-Event-Webhook-Timestamp`, a day',
      identity: '`sg_event_id` of each element',
      identitySigned: true,
      type: '`event`',
      version: null,
      retries: 'for 24 h, further and further apart',
      ordering: unordered,
      handshake: null,
      expects: '2xx for the whole batch',
      sources: [
        'https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features',
        '@sendgrid/eventwebhook 8.0.0',
      ],
    },
    verify(delivery, now) {
      const signature = delivery.header('x-twilio-email-event-webhook-signature')
      const timestamp = delivery.header('x-twilio-email-event-webhook-timestamp')
      if (signature === null) return refused('signature_missing', 'the signature header is missing')
      const seconds = strictSeconds(timestamp)
      // Nothing separates it from the body: with fewer digits it could borrow from it.
      if (timestamp?.length !== 10 || seconds === undefined) return noTimestamp
      if (!isSignedBy(keys, 'sha256', [timestamp, delivery.body], strictBase64(signature))) return noMatch
      return checkFreshness(seconds, now, tolerance)
    },
    events: (payload) => (Array.isArray(payload) ? elementsOf(payload) : null),
    facts: (event) => ({
      id: textOf(memberOf(event, 'sg_event_id')),
      source: 'sendgrid',
      type: textOf(memberOf(event, 'event')),
      version: null,
      at: instantOf(memberOf(event, 'timestamp')),
    }),
    data: (event) => event,
  }
}
