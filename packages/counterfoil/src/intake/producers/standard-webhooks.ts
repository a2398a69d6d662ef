import type { KeyObject } from 'node:crypto'
import { CounterfoilError } from '../../domain/index.ts'
import { instantOf, memberOf, partOf, textOf } from '../members.ts'
import type { Delivery, OfflineKind } from '../producer.ts'
import { ed25519Key, isSignedBy, publicKeysOf } from '../public-key.ts'
import {
  anyMatches,
  checkFreshness,
  hmacKey,
  hmacText,
  maxSignatures,
  refused,
  secretsOf,
  strictBase64,
  strictSeconds,
  toleranceOf,
} from '../signature.ts'

export interface StandardWebhooksOptions {
  /** `whsec_…` for HMAC (v1), `whpk_…` for ed25519 (v1a); several while one is being replaced. */
  readonly secrets: string | readonly string[]
  /** How far the timestamp may be from now, in both directions. Default 300. */
  readonly toleranceSeconds?: number
}

/**
 * Standard Webhooks 1.0.0 (standard-webhooks/standard-webhooks, spec) and Svix, whose `svix-*` headers win
 * where both families are there. Signed: `id.timestamp.body`; so the id is signed too.
 *
 * @throws CounterfoilError `config_invalid` without a secret, or with one that is none
 */
export function standardWebhooks(options: StandardWebhooksOptions): OfflineKind {
  const secrets = secretsOf('Standard Webhooks', options.secrets)
  const tolerance = toleranceOf('Standard Webhooks', options.toleranceSeconds)
  // A public key is never tried as an HMAC secret: everybody knows it.
  const hmacKeys = secrets.filter((secret) => !secret.startsWith('whpk_')).map(symmetric)
  const whpk = secrets.filter((secret) => secret.startsWith('whpk_'))
  const publicKeys =
    whpk.length === 0
      ? []
      : publicKeysOf('Standard Webhooks', whpk, 'whpk_ and 32 bytes in base64', (text) =>
          ed25519Key(strictBase64(text.slice('whpk_'.length))),
        )

  return {
    kind: 'standard-webhooks',
    contentTypes: ['application/json'],
    provenance: 'signed',
    volatile: [],
    // The recommended schedule ends after 75 h 35 min.
    retryHorizon: '76h',
    maxBytes: 1_048_576,
    about: {
      signed: 'HMAC-SHA256 or ed25519 of `id.timestamp.body`, in base64',
      identity: 'header `webhook-id` or `svix-id`',
      identitySigned: true,
      type: '`type`',
      version: null,
      freshness: 'the timestamp header, 300 s before and after',
      retries: 'recommended: ten tries in 75 h 35 min; Svix: eight in 27 h 35 min',
      ordering: 'none',
      handshake: null,
      expects: 'a 2xx within 15 to 30 s; 410 switches the endpoint off',
      sources: [
        'https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md',
        'standardwebhooks 1.1.1',
        'svix 1.99.1',
      ],
    },
    verify(delivery, now) {
      const family = familyOf(delivery)
      const id = delivery.header(family.id)
      const timestamp = delivery.header(family.timestamp)
      const signature = delivery.header(family.signature)
      if (id === null || timestamp === null || signature === null) {
        return refused('signature_missing', 'the id, timestamp or signature header is missing')
      }
      // An id with a dot could borrow bytes from the timestamp: the signed text would be the same.
      if (id === '' || id.includes('.')) return refused('identity_invalid', 'the id is empty or holds a dot')
      const seconds = strictSeconds(timestamp)
      if (seconds === undefined) {
        return refused('timestamp_invalid', 'the timestamp is not a plain number of seconds')
      }
      const given = signature.split(' ', maxSignatures)
      const prefix = `${id}.${timestamp}.`
      const { body } = delivery
      const matches =
        anyMatches(given, hmacKeys, (key) => `v1,${hmacText(key, prefix, body, 'base64')}`) ||
        given.some((one) => isSignedBy(publicKeys, null, [prefix, body], ed25519Signature(one)))
      if (!matches) return refused('signature_invalid', 'no signature matches any configured secret')
      return checkFreshness(seconds, now, tolerance)
    },
    facts: (payload, delivery) => ({
      id: delivery.header(familyOf(delivery).id),
      source: 'standard-webhooks',
      type: textOf(memberOf(payload, 'type')),
      version: null,
      at: instantOf(memberOf(payload, 'timestamp')),
    }),
    data: (payload) => partOf(payload, 'data'),
  }
}

const webhook = { id: 'webhook-id', timestamp: 'webhook-timestamp', signature: 'webhook-signature' } as const
const svix = { id: 'svix-id', timestamp: 'svix-timestamp', signature: 'svix-signature' } as const

/** The whole of one family counts: a good `webhook-*` set never rescues a bad `svix-*` one. */
function familyOf(delivery: Delivery): typeof webhook | typeof svix {
  const isSvix =
    delivery.header(svix.id) !== null ||
    delivery.header(svix.signature) !== null ||
    delivery.header(svix.timestamp) !== null
  return isSvix ? svix : webhook
}

/** The part after `whsec_` is base64 of 24 to 64 bytes. Some senders leave the prefix out, some put `v1,` before it. */
function symmetric(secret: string): KeyObject {
  const key = strictBase64(secret.replace(/^(?:v1,)?whsec_/, ''))
  if (key === undefined || key.length < 16) {
    throw new CounterfoilError(
      'config_invalid',
      'A Standard Webhooks secret is not base64 of at least 16 bytes.',
      {
        hint: 'Copy it whole, as whsec_…; for ed25519 give the public key, whpk_…, and never whsk_….',
      },
    )
  }
  return hmacKey(key)
}

/** The bytes behind `v1a,`. */
function ed25519Signature(signature: string): Buffer | undefined {
  const bytes = signature.startsWith('v1a,') ? strictBase64(signature.slice('v1a,'.length)) : undefined
  return bytes?.length === 64 ? bytes : undefined
}
