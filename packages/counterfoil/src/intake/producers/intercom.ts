import { contentId, instantOf, memberOf, partOf, textOf } from '../members.ts'
import type { OfflineKind } from '../producer.ts'
import { checkHeader, hmacKey, hmacText, secretsOf } from '../signature.ts'
import { noFreshness, unordered } from './words.ts'

export interface IntercomOptions {
  /** The app's client secret. */
  readonly secrets: string | readonly string[]
}

/** They tell of the attempt. */
const volatile = ['/delivery_attempts', '/delivered_at', '/delivery_status']

/**
 * Intercom notifications. Signed: the raw body, with HMAC-SHA1, as Intercom has nothing else. A ping has no id.
 *
 * @throws CounterfoilError `config_invalid` without a secret
 */
export function intercom(options: IntercomOptions): OfflineKind {
  const keys = secretsOf('Intercom', options.secrets).map(hmacKey)
  return {
    kind: 'intercom',
    contentTypes: ['application/json'],
    provenance: 'signed',
    volatile,
    // Not documented; a day covers a pause of the subscription.
    retryHorizon: '24h',
    maxBytes: 1_048_576,
    about: {
      signed: 'the raw body, HMAC-SHA1 in hex',
      freshness: noFreshness,
      identity: '`id`; a ping has none, and its content stands in',
      identitySigned: true,
      type: '`topic`',
      version: null,
      retries: 'schedule not documented; paused for 15 min after many failures',
      ordering: unordered,
      handshake: '`ping`, an event like others',
      expects: '2xx',
      sources: ['https://developers.intercom.com/docs/webhooks'],
    },
    verify: (delivery) =>
      checkHeader(
        delivery,
        'X-Hub-Signature',
        keys,
        (key) => `sha1=${hmacText(key, '', delivery.body, 'hex', 'sha1')}`,
      ),
    facts: (payload) => ({
      id: textOf(memberOf(payload, 'id')) ?? contentId(payload, { volatile }),
      source: textOf(memberOf(payload, 'app_id')) ?? 'intercom',
      type: textOf(memberOf(payload, 'topic')),
      version: null,
      at: instantOf(memberOf(payload, 'created_at')),
    }),
    data: (payload) => partOf(payload, 'data', 'item'),
  }
}
