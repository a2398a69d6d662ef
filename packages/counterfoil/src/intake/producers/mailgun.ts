import type { KeyObject } from 'node:crypto'
import type { JsonValue } from '../../domain/index.ts'
import { instantOf, memberOf, partOf, signedMembers, textOf } from '../members.ts'
import type { OfflineKind } from '../producer.ts'
import {
  anyMatches,
  checkFreshness,
  hmacKey,
  hmacText,
  noMatch,
  noTimestamp,
  refused,
  secretsOf,
  toleranceOf,
  verified,
} from '../signature.ts'
import { SingleUse } from '../single-use.ts'
import { unordered } from './words.ts'

export interface MailgunOptions {
  /** The HTTP webhook signing key, not the API key. */
  readonly secrets: string | readonly string[]
  /** How far the timestamp may be from now, in both directions. Default 300. */
  readonly toleranceSeconds?: number
}

/**
 * Mailgun webhooks, JSON. Signed: a timestamp and a token in the body, and *not* the event: whoever holds one
 * delivery can put another event in its place while it is fresh. One token counts for one body only, as far as this
 * process has seen. Look up what matters.
 *
 * @throws CounterfoilError `config_invalid` without a secret
 */
export function mailgun(options: MailgunOptions): OfflineKind {
  const keys = secretsOf('Mailgun', options.secrets).map(hmacKey)
  const tolerance = toleranceOf('Mailgun', options.toleranceSeconds)
  // Fresh from as long before now until as long after.
  const tokens = new SingleUse(2_000 * tolerance)
  return {
    kind: 'mailgun',
    contentTypes: ['application/json'],
    provenance: 'unsigned',
    // Of the attempt, not of the event.
    volatile: ['/signature'],
    retryHorizon: '8h',
    maxBytes: 25 * 1_048_576,
    // 2xx others than 200 are sent again; 406 drops the event for ever.
    answer: { accepted: { status: 200 } },
    about: {
      signed: '`signature.timestamp`, `signature.token`; HMAC-SHA256 in hex. The event itself is not signed',
      freshness: '`signature.timestamp`, 300 s',
      identity: '`event-data.id`',
      identitySigned: false,
      type: '`event-data.event`',
      version: null,
      retries: 'after 5, 10, 15 min, 1, 2, 4 h',
      ordering: unordered,
      handshake: null,
      expects: '200; 406 drops the event for ever',
      sources: [
        'https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks',
        'https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/webhooks',
      ],
    },
    verify(delivery, now) {
      // The signature lies in the body, which is so read before; the strict reader and the size limit guard that.
      const signature = memberOf(signedMembers(delivery.body), 'signature')
      if (signature === undefined) return refused('signature_missing', 'the body has no signature member')
      const timestamp = textOf(memberOf(signature, 'timestamp')) ?? ''
      // Nothing separates it from the token: with fewer digits it could borrow from it.
      if (!/^\d{10}$/.test(timestamp)) return noTimestamp
      if (!isSigned(signature, timestamp, keys)) return noMatch
      const fresh = checkFreshness(Number(timestamp), now, tolerance)
      if (fresh.kind === 'refused') return fresh
      const isFirst = tokens.take(textOf(memberOf(signature, 'token')) ?? '', delivery.body, now)
      return isFirst ? verified : refused('signature_invalid', 'its token came with another body before')
    },
    facts(payload) {
      const data = memberOf(payload, 'event-data')
      return {
        id: textOf(memberOf(data, 'id')),
        source: textOf(memberOf(memberOf(data, 'domain'), 'name')) ?? 'mailgun',
        type: textOf(memberOf(data, 'event')),
        version: null,
        at: instantOf(memberOf(data, 'timestamp')),
      }
    },
    data: (payload) => partOf(payload, 'event-data'),
  }
}

function isSigned(signature: JsonValue, timestamp: string, keys: readonly KeyObject[]): boolean {
  const token = textOf(memberOf(signature, 'token')) ?? ''
  const given = textOf(memberOf(signature, 'signature')) ?? ''
  return anyMatches([given], keys, (key) => hmacText(key, '', timestamp + token, 'hex'))
}
