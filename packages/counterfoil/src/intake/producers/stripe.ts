import { instantOf, memberOf, partOf, textOf } from '../members.ts'
import type { OfflineKind } from '../producer.ts'
import {
  anyMatches,
  checkFreshness,
  hmacKey,
  hmacText,
  maxSignatures,
  refused,
  secretsOf,
  strictSeconds,
  toleranceOf,
} from '../signature.ts'

export interface StripeOptions {
  /** Each endpoint and mode has its own; several are tried, so rolling one loses nothing. */
  readonly secrets: string | readonly string[]
  /** How far `t` may be from now, in both directions. Default 300. */
  readonly toleranceSeconds?: number
}

/**
 * Stripe webhooks, snapshot and thin events (docs.stripe.com/webhooks). Signed: `t.body`, under the whole
 * `whsec_…` text as key. Only scheme v1 counts. Order is not promised, and `created` has whole seconds.
 *
 * @throws CounterfoilError `config_invalid` without a secret
 */
export function stripe(options: StripeOptions): OfflineKind {
  const keys = secretsOf('Stripe', options.secrets).map(hmacKey)
  const tolerance = toleranceOf('Stripe', options.toleranceSeconds)
  return {
    kind: 'stripe',
    contentTypes: ['application/json'],
    provenance: 'signed',
    volatile: ['/pending_webhooks'],
    // Three days by itself; by hand for thirty.
    retryHorizon: '30d',
    maxBytes: 1_048_576,
    about: {
      signed: 'HMAC-SHA256 of `t.body`, in hexadecimal, under the whole `whsec_…` text',
      identity: '`id`; two events of one change have two',
      identitySigned: true,
      type: '`type`',
      version: '`api_version`; thin events have none',
      freshness: '`t`, 300 s before and after',
      retries: '3 days, each try signed anew; by hand for 30 days',
      ordering: 'none; `created` has whole seconds',
      handshake: null,
      expects: 'a 2xx quickly; redirects count as failures',
      sources: ['https://docs.stripe.com/webhooks', 'stripe 23.1.0'],
    },
    verify(delivery, now) {
      const header = delivery.header('stripe-signature')
      if (header === null) return refused('signature_missing', 'Stripe-Signature is missing')
      const { times, signatures } = parse(header)
      const [timestamp = ''] = times
      // Of several t, which one is signed would be a guess.
      const seconds = times.length === 1 ? strictSeconds(timestamp) : undefined
      if (seconds === undefined) return refused('timestamp_invalid', 'there is not exactly one plain t')
      if (signatures.length === 0) return refused('signature_missing', 'there is no v1 signature')
      const prefix = `${timestamp}.`
      if (!anyMatches(signatures, keys, (key) => hmacText(key, prefix, delivery.body, 'hex'))) {
        return refused('signature_invalid', 'no v1 signature matches any configured secret')
      }
      return checkFreshness(seconds, now, tolerance)
    },
    facts: (payload) => ({
      id: textOf(memberOf(payload, 'id')),
      // Connect names the account of a snapshot event, `context` that of a thin one.
      source: textOf(memberOf(payload, 'account')) ?? textOf(memberOf(payload, 'context')) ?? 'stripe',
      type: textOf(memberOf(payload, 'type')),
      version: textOf(memberOf(payload, 'api_version')),
      at: instantOf(memberOf(payload, 'created')),
    }),
    // A thin event has no data: the whole of it is what there is.
    data: (payload) => partOf(payload, 'data', 'object'),
  }
}

/** `t=SECONDS,v1=HEX[,v1=HEX][,v0=HEX]`, without blanks; a value is everything behind the first `=`. */
function parse(header: string): { times: string[]; signatures: string[] } {
  const times: string[] = []
  const signatures: string[] = []
  for (const item of header.split(',', maxSignatures)) {
    // A header that was sent twice is joined with a comma and a blank: its second t counts against it.
    if (item.trimStart().startsWith('t=')) times.push(item.slice(2))
    else if (item.startsWith('v1=')) signatures.push(item.slice(3))
  }
  return { times, signatures }
}
