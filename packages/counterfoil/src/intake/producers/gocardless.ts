import { elementsOf, instantOf, memberOf, textOf } from '../members.ts'
import type { OfflineKind } from '../producer.ts'
import { anyMatches, hmacKey, hmacText, noMatch, refused, secretsOf, verified } from '../signature.ts'
import { noFreshness, unordered } from './words.ts'

export interface GoCardlessOptions {
  /** The secret of the webhook endpoint. */
  readonly secrets: string | readonly string[]
}

/**
 * GoCardless webhooks: each carries several events. Signed: the raw body.
 *
 * @throws CounterfoilError `config_invalid` without a secret
 */
export function gocardless(options: GoCardlessOptions): OfflineKind {
  const keys = secretsOf('GoCardless', options.secrets).map(hmacKey)
  return {
    kind: 'gocardless',
    contentTypes: ['application/json'],
    provenance: 'signed',
    volatile: [],
    // By itself for hours; people can ask for one again later.
    retryHorizon: '7d',
    maxBytes: 1_048_576,
    answer: { unauthenticated: { status: 498 } },
    about: {
      signed: 'the raw body, HMAC-SHA256 in hex',
      freshness: noFreshness,
      identity: '`id` of each element of `events`',
      identitySigned: true,
      type: '`resource_type` and `action`, as `payments.confirmed`',
      version: null,
      retries: 'up to 8 times, further and further apart',
      ordering: unordered,
      handshake: null,
      expects: '2xx within 10 s for the whole batch; 498 for a bad signature',
      sources: [
        'https://developer.gocardless.com/api-reference/#webhooks-overview',
        'gocardless-nodejs 10.1.2',
      ],
    },
    verify(delivery) {
      const given = delivery.header('webhook-signature')
      if (given === null) return refused('signature_missing', 'Webhook-Signature is missing')
      // In either case, as their own package reads it; but all of it, which that does not look at.
      const matches = anyMatches([given.toLowerCase()], keys, (key) =>
        hmacText(key, '', delivery.body, 'hex'),
      )
      return matches ? verified : noMatch
    },
    events: (payload) => elementsOf(memberOf(payload, 'events')),
    facts(event) {
      const resource = textOf(memberOf(event, 'resource_type'))
      const action = textOf(memberOf(event, 'action'))
      const organisation = textOf(memberOf(memberOf(event, 'links'), 'organisation'))
      return {
        id: textOf(memberOf(event, 'id')),
        source: organisation ?? 'gocardless',
        type: resource === null || action === null ? null : `${resource}.${action}`,
        version: null,
        at: instantOf(memberOf(event, 'created_at')),
      }
    },
    data: (event) => event,
  }
}
