import type { OfflineKind } from '../producer.ts'
import { anyMatches, hmacKey, hmacText, refused, secretsOf, verified } from '../signature.ts'
import { headerToken } from './header-token.ts'

export interface GitHubOptions {
  /** Several while one is being replaced: GitHub itself signs with one. */
  readonly secrets: string | readonly string[]
}

/**
 * GitHub webhooks (docs.github.com, validating webhook deliveries). Signed: the raw body, and nothing else: id
 * and type are in headers that anyone who holds a delivery can change, and there is no timestamp. So the
 * content is compared too. The legacy SHA-1 header is never looked at.
 *
 * @throws CounterfoilError `config_invalid` without a secret
 */
export function github(options: GitHubOptions): OfflineKind {
  const keys = secretsOf('GitHub', options.secrets).map(hmacKey)
  return {
    kind: 'github',
    contentTypes: ['application/json', 'application/x-www-form-urlencoded'],
    provenance: 'unsigned',
    volatile: [],
    // Nothing is sent again by itself; people can ask for it for some days.
    retryHorizon: '7d',
    // Larger events are not sent.
    maxBytes: 25 * 1_048_576,
    about: {
      signed: 'HMAC-SHA256 of the raw body, in hexadecimal; no header',
      identity: 'header `X-GitHub-Delivery`, the same when it is delivered again',
      identitySigned: false,
      type: 'header `X-GitHub-Event`, not signed',
      version: null,
      freshness: 'none: no time is signed',
      retries: 'none by itself; people or programs can ask for one',
      ordering: 'none',
      handshake: null,
      expects: 'a 2xx within 10 s; events over 25 MB are not sent',
      sources: [
        'https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries',
        '@octokit/webhooks-methods 6.0.0',
      ],
    },
    verify(delivery) {
      const signature = delivery.header('x-hub-signature-256')
      if (signature === null) return refused('signature_missing', 'X-Hub-Signature-256 is missing')
      const matches = anyMatches(
        [signature],
        keys,
        (key) => `sha256=${hmacText(key, '', delivery.body, 'hex')}`,
      )
      return matches ? verified : refused('signature_invalid', 'the signature matches no configured secret')
    },
    facts: (_, delivery) => ({
      id: headerToken(delivery, 'x-github-delivery'),
      source: 'github',
      type: headerToken(delivery, 'x-github-event'),
      version: null,
      at: null,
    }),
    data: (payload) => payload,
  }
}
