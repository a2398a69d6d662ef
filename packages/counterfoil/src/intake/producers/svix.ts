import type { OfflineKind } from '../producer.ts'
import { type StandardWebhooksOptions, standardWebhooks } from './standard-webhooks.ts'

/**
 * Svix, and who sends through it: Standard Webhooks under `svix-*` headers, with a schedule of its own.
 *
 * @throws CounterfoilError `config_invalid` without a secret, or with one that is none
 */
export function svix(options: StandardWebhooksOptions): OfflineKind {
  const standard = standardWebhooks(options)
  return {
    ...standard,
    kind: 'svix',
    retryHorizon: '28h',
    facts: (payload, delivery) => ({ ...standard.facts(payload, delivery), source: 'svix' }),
    about: {
      ...standard.about,
      identity: 'header `svix-id`, the same for every attempt',
      freshness: 'header `svix-timestamp`, 300 s',
      retries: 'after 5 s, 5 min, 30 min, 2, 5, 10, 10 h, each give or take a fifth',
      expects: 'a 2xx within 15 s; switched off after 5 d of failures',
      sources: ['https://docs.svix.com/receiving/verifying-payloads/how', 'svix 1.99.1, svix-server'],
    },
  }
}
