import { instantOf, joined, memberOf, partOf, textOf } from '../members.ts'
import type { OfflineKind } from '../producer.ts'
import {
  anyMatches,
  hmacKey,
  hmacText,
  maxSignatures,
  noMatch,
  refused,
  secretsOf,
  verified,
} from '../signature.ts'
import { noFreshness, unordered } from './words.ts'

export interface DocusignOptions {
  /** The HMAC keys of Connect: each active one signs, and any of ours that matches counts. */
  readonly secrets: string | readonly string[]
}

/**
 * Docusign Connect, JSON. Signed: the raw body, once for every active key, in `X-DocuSign-Signature-1` and on.
 *
 * @throws CounterfoilError `config_invalid` without a secret
 */
export function docusign(options: DocusignOptions): OfflineKind {
  const keys = secretsOf('Docusign', options.secrets).map(hmacKey)
  return {
    kind: 'docusign',
    contentTypes: ['application/json'],
    provenance: 'signed',
    volatile: ['/retryCount'],
    // At most ten times, and at least a day apart after the second.
    retryHorizon: '15d',
    // Documents may be inside.
    maxBytes: 25 * 1_048_576,
    about: {
      signed: 'the raw body, HMAC-SHA256 in base64',
      freshness: noFreshness,
      identity: '`event`, `generatedDateTime` and `data.envelopeId` together: there is no id',
      identitySigned: true,
      type: '`event`',
      version: '`apiVersion`',
      retries: 'up to 10 times, a day apart after the second',
      ordering: unordered,
      handshake: null,
      expects: '2xx',
      sources: [
        'https://developers.docusign.com/platform/webhooks/connect/hmac/',
        'docusign-esign, text of its models',
      ],
    },
    verify(delivery) {
      const given: string[] = []
      for (let number = 1; number <= maxSignatures; number++) {
        const signature = delivery.header(`x-docusign-signature-${number}`)
        if (signature === null) break
        given.push(signature)
      }
      if (given.length === 0) return refused('signature_missing', 'X-DocuSign-Signature-1 is missing')
      return anyMatches(given, keys, (key) => hmacText(key, '', delivery.body, 'base64')) ? verified : noMatch
    },
    facts(payload) {
      const data = memberOf(payload, 'data')
      const event = textOf(memberOf(payload, 'event'))
      const generated = textOf(memberOf(payload, 'generatedDateTime'))
      return {
        id: joined(
          event,
          generated,
          textOf(memberOf(data, 'envelopeId')) ?? textOf(memberOf(data, 'accountId')),
        ),
        source: textOf(memberOf(data, 'accountId')) ?? 'docusign',
        type: event,
        version: textOf(memberOf(payload, 'apiVersion')),
        at: instantOf(generated ?? undefined),
      }
    },
    data: (payload) => partOf(payload, 'data'),
  }
}
