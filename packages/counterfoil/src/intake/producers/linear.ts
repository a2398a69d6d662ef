import { instantOf, memberOf, signedMembers, textOf } from '../members.ts'
import type { OfflineKind } from '../producer.ts'
import {
  checkFreshness,
  checkHeader,
  hmacKey,
  hmacText,
  noTimestamp,
  secretsOf,
  toleranceOf,
} from '../signature.ts'
import { headerToken } from './header-token.ts'
import { unordered } from './words.ts'

export interface LinearOptions {
  readonly secrets: string | readonly string[]
  /** How far `webhookTimestamp` may be from now, in both directions. Default 60, as Linear recommends. */
  readonly toleranceSeconds?: number
}

/**
 * Linear webhooks. Signed: the raw body, which holds the time of sending; the header `Linear-Timestamp` is not
 * signed and not read.
 *
 * @throws CounterfoilError `config_invalid` without a secret
 */
export function linear(options: LinearOptions): OfflineKind {
  const keys = secretsOf('Linear', options.secrets).map(hmacKey)
  const tolerance = toleranceOf('Linear', options.toleranceSeconds ?? 60)
  return {
    kind: 'linear',
    contentTypes: ['application/json'],
    provenance: 'unsigned',
    // The window is a minute and retries take hours: so each attempt is stamped anew.
    volatile: ['/webhookTimestamp'],
    retryHorizon: '8h',
    maxBytes: 5 * 1_048_576,
    about: {
      signed: 'the raw body, HMAC-SHA256 in hex',
      freshness: '`webhookTimestamp` in the body, 60 s',
      identity: 'header `Linear-Delivery`',
      identitySigned: false,
      type: '`type` and `action`, as `Issue.create`',
      version: null,
      retries: '3 times: after 1 min, 1 h, 6 h',
      ordering: unordered,
      handshake: null,
      expects: '200 within 5 s',
      sources: ['https://linear.app/developers/webhooks', '@linear/sdk 98.0.0'],
    },
    verify(delivery, now) {
      const signed = checkHeader(delivery, 'Linear-Signature', keys, (key) =>
        hmacText(key, '', delivery.body, 'hex'),
      )
      if (signed.kind === 'refused') return signed
      const milliseconds = memberOf(signedMembers(delivery.body), 'webhookTimestamp')
      if (typeof milliseconds !== 'number') return noTimestamp
      return checkFreshness(Math.floor(milliseconds / 1000), now, tolerance)
    },
    facts(payload, delivery) {
      const type = textOf(memberOf(payload, 'type'))
      const action = textOf(memberOf(payload, 'action'))
      return {
        id: headerToken(delivery, 'linear-delivery'),
        source: textOf(memberOf(payload, 'organizationId')) ?? 'linear',
        type: type === null || action === null ? type : `${type}.${action}`,
        version: null,
        at: instantOf(memberOf(payload, 'createdAt')),
      }
    },
    data: (payload) => payload,
  }
}
