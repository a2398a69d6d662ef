import { elementsOf, instantOfMilliseconds, joined, memberOf, nameOf, textOf } from '../members.ts'
import type { OfflineKind } from '../producer.ts'
import { checkStamped, hmacKey, hmacText, secretsOf, toleranceOf } from '../signature.ts'
import { unordered } from './words.ts'

export interface HubSpotOptions {
  /** The app's client secret. */
  readonly secrets: string | readonly string[]
  /** How far the timestamp may be from now, in both directions. Default 300. */
  readonly toleranceSeconds?: number
}

/**
 * HubSpot webhooks, signature version 3. Signed: method, URL, body and timestamp, one after the other. The older
 * versions sign no time and are never looked at.
 *
 * @throws CounterfoilError `config_invalid` without a secret
 */
export function hubspot(options: HubSpotOptions): OfflineKind {
  const keys = secretsOf('HubSpot', options.secrets).map(hmacKey)
  const toleranceSeconds = toleranceOf('HubSpot', options.toleranceSeconds)
  return {
    kind: 'hubspot',
    contentTypes: ['application/json'],
    provenance: 'signed',
    signsUrl: true,
    volatile: ['/attemptNumber'],
    retryHorizon: '24h',
    maxBytes: 1_048_576,
    about: {
      signed: 'method, URL, body, timestamp; HMAC-SHA256 in base64',
      freshness: 'header `X-HubSpot-Request-Timestamp`, 300 s',
      identity:
        'of each element: `portalId`, `subscriptionId`, `eventId`, `objectId`, `occurredAt` together; `eventId` alone is not unique',
      identitySigned: true,
      type: '`subscriptionType`',
      version: null,
      retries: '10 times within 24 h, after a 4xx too',
      ordering: unordered,
      handshake: null,
      expects: '2xx within 5 s, for the whole batch of up to 100',
      sources: [
        'https://developers.hubspot.com/docs/apps/legacy-apps/authentication/validating-requests',
        '@hubspot/api-client 13.5.0',
      ],
    },
    verify: (delivery, now) =>
      checkStamped(delivery, now, {
        timestamp: 'X-HubSpot-Request-Timestamp',
        signature: 'X-HubSpot-Signature-v3',
        unit: 'ms',
        keys,
        toleranceSeconds,
        expect: (key, timestamp) => {
          const body = Buffer.concat([delivery.body, Buffer.from(timestamp)])
          return hmacText(key, delivery.method + unescaped(delivery.url), body, 'base64')
        },
      }),
    events: (payload) => (Array.isArray(payload) ? elementsOf(payload) : null),
    facts(event) {
      const name = (member: string) => nameOf(memberOf(event, member))
      return {
        id: joined(
          name('portalId'),
          name('subscriptionId'),
          name('eventId'),
          name('objectId') ?? '',
          name('occurredAt'),
          name('propertyName') ?? '',
        ),
        source: name('portalId') ?? 'hubspot',
        type: textOf(memberOf(event, 'subscriptionType')),
        version: null,
        at: instantOfMilliseconds(memberOf(event, 'occurredAt')),
      }
    },
    data: (event) => event,
  }
}

/** HubSpot signs the URL with these written plainly, and all other escapes as they are. */
function unescaped(url: string): string {
  return url.replace(/%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi, decodeURIComponent)
}
