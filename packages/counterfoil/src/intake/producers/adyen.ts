import type { KeyObject } from 'node:crypto'
import { CounterfoilError, type JsonValue } from '../../domain/index.ts'
import { elementsOf, instantOf, joined, memberOf, nameOf, partOf, signedMembers, textOf } from '../members.ts'
import type { Delivery, OfflineKind, Verification } from '../producer.ts'
import {
  anyMatches,
  checkHeader,
  hmacKey,
  hmacText,
  noMatch,
  refused,
  secretsOf,
  verified,
} from '../signature.ts'
import { noFreshness, unordered } from './words.ts'

export interface AdyenOptions {
  /** HMAC keys in hexadecimal, as Adyen shows them; keep the old one while a new one spreads. */
  readonly secrets: string | readonly string[]
}

/**
 * Adyen standard webhooks, where each item carries its own signature over eight of its fields, and platform
 * webhooks, where a header signs the raw body. A delivery counts only when every item is signed.
 *
 * @throws CounterfoilError `config_invalid` without a key, or with one that is not hexadecimal
 */
export function adyen(options: AdyenOptions): OfflineKind {
  const keys = secretsOf('Adyen', options.secrets).map(hexKey)
  return {
    kind: 'adyen',
    contentTypes: ['application/json'],
    provenance: 'signed',
    volatile: [],
    // Not documented; long, as an identity that is forgotten too early is the worse mistake.
    retryHorizon: '30d',
    maxBytes: 1_048_576,
    about: {
      signed:
        'each item: 8 fields joined with `:`, HMAC-SHA256 in base64; platform: the raw body. Reason, date and other additional data of an item are not signed',
      freshness: noFreshness,
      identity:
        '`eventCode`, `success`, `pspReference` of each item together; platform: `data.id` with `type` and `timestamp`',
      identitySigned: true,
      type: '`eventCode`; platform: `type`',
      version: null,
      retries: 'after 9, 18, 27 s, then from a queue of which the end is not documented',
      ordering: `${unordered}; \`eventDate\` tells it, unsigned`,
      handshake: null,
      expects: '2xx within 10 s, for all items',
      sources: ['https://docs.adyen.com/development-resources/webhooks/', '@adyen/api-library 32.1.0'],
    },
    verify(delivery) {
      return isPlatform(delivery)
        ? checkHeader(delivery, 'HmacSignature', keys, (key) => hmacText(key, '', delivery.body, 'base64'))
        : checkItems(itemsOf(signedMembers(delivery.body)), keys)
    },
    events: (payload, delivery) => (isPlatform(delivery) ? null : itemsOf(payload)),
    facts(payload) {
      const text = (name: string) => textOf(memberOf(payload, name))
      const code = text('eventCode')
      if (code === null) return platformFacts(payload)
      return {
        id: joined(code, text('success') ?? '', text('pspReference')),
        source: text('merchantAccountCode') ?? 'adyen',
        type: code,
        version: null,
        at: instantOf(memberOf(payload, 'eventDate')),
      }
    },
    data: (payload) => (memberOf(payload, 'eventCode') === undefined ? partOf(payload, 'data') : payload),
  }
}

function platformFacts(payload: JsonValue | undefined) {
  const data = memberOf(payload, 'data')
  const type = textOf(memberOf(payload, 'type'))
  return {
    id: joined(type, textOf(memberOf(payload, 'timestamp')) ?? '', nameOf(memberOf(data, 'id'))),
    source: textOf(memberOf(data, 'balancePlatform')) ?? 'adyen',
    type,
    version: null,
    at: instantOf(memberOf(payload, 'timestamp')),
  }
}

function isPlatform(delivery: Delivery): boolean {
  return delivery.header('hmacsignature') !== null
}

function itemsOf(payload: JsonValue | undefined): readonly JsonValue[] {
  return elementsOf(memberOf(payload, 'notificationItems')).map((item) =>
    partOf(item, 'NotificationRequestItem'),
  )
}

function checkItems(items: readonly JsonValue[], keys: readonly KeyObject[]): Verification {
  const signatures = items.map((item) => textOf(memberOf(memberOf(item, 'additionalData'), 'hmacSignature')))
  if (items.length === 0 || signatures.includes(null)) {
    return refused('signature_missing', 'there is no item, or one without a signature')
  }
  const matches = items.every((item, at) =>
    anyMatches([signatures[at]!], keys, (key) => hmacText(key, '', signedText(item), 'base64')),
  )
  return matches ? verified : noMatch
}

/** Joined without escaping, as Adyen does: a `:` inside a field is not told from one between two. */
function signedText(item: JsonValue): string {
  const amount = memberOf(item, 'amount')
  const fields = [
    memberOf(item, 'pspReference'),
    memberOf(item, 'originalReference'),
    memberOf(item, 'merchantAccountCode'),
    memberOf(item, 'merchantReference'),
    memberOf(amount, 'value'),
    memberOf(amount, 'currency'),
    memberOf(item, 'eventCode'),
    memberOf(item, 'success'),
  ]
  return fields.map((field) => nameOf(field) ?? '').join(':')
}

function hexKey(secret: string): KeyObject {
  if (/^(?:[0-9a-fA-F]{2}){16,64}$/.test(secret)) return hmacKey(Buffer.from(secret, 'hex'))
  throw new CounterfoilError('config_invalid', 'An Adyen HMAC key is not 16 to 64 bytes in hexadecimal.', {
    hint: 'Copy it whole from the webhook’s page; it is shown only once.',
  })
}
