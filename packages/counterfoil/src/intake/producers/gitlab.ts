import { checkCredential } from '../credential.ts'
import { memberOf, textOf } from '../members.ts'
import type { Delivery, OfflineKind } from '../producer.ts'
import { secretsOf } from '../signature.ts'
import { headerToken } from './header-token.ts'
import { standardWebhooks } from './standard-webhooks.ts'
import { unordered } from './words.ts'

export interface GitLabOptions {
  /** Signing tokens, `whsec_…`: they sign id, time and body. */
  readonly signingTokens?: string | readonly string[]
  /** Secret tokens, which GitLab no longer recommends: they vouch for the sender and not for what he sends. */
  readonly secretTokens?: string | readonly string[]
  readonly toleranceSeconds?: number
}

/**
 * GitLab webhooks: Standard Webhooks where a signing token is configured, a plain secret header where not. A
 * delivery that carries a signature must pass it; the secret token never saves one that does not.
 *
 * @throws CounterfoilError `config_invalid` without a token of either kind
 */
export function gitlab(options: GitLabOptions): OfflineKind {
  const { signingTokens, secretTokens, toleranceSeconds } = options
  const signing =
    signingTokens === undefined
      ? null
      : standardWebhooks({
          secrets: signingTokens,
          ...(toleranceSeconds === undefined ? {} : { toleranceSeconds }),
        })
  const tokens =
    secretTokens === undefined && signing !== null ? [] : secretsOf('GitLab', secretTokens ?? [], 'token')
  return {
    kind: 'gitlab',
    contentTypes: ['application/json'],
    // Where secret tokens are allowed at all, any delivery may be one.
    provenance: tokens.length === 0 ? 'signed' : 'unsigned',
    volatile: [],
    // Nothing is sent again by itself; people can ask for it.
    retryHorizon: '7d',
    maxBytes: 25 * 1_048_576,
    about: {
      signed:
        'signing token: as Standard Webhooks; secret token: nothing, the header `X-Gitlab-Token` is the secret',
      freshness: 'signing token: `webhook-timestamp`, 300 s; secret token: none',
      identity: 'header `webhook-id`, else `Idempotency-Key`',
      identitySigned: tokens.length === 0,
      type: '`object_kind`',
      version: null,
      retries: 'none documented; by hand; switched off after repeated failures',
      ordering: unordered,
      handshake: null,
      expects: '2xx',
      sources: [
        'https://docs.gitlab.com/user/project/integrations/webhooks/',
        'https://gitlab.com/gitlab-org/gitlab/-/merge_requests/230944',
      ],
    },
    verify(delivery, now) {
      if (signing !== null && (isSigned(delivery) || tokens.length === 0))
        return signing.verify(delivery, now)
      return isSigned(delivery)
        ? checkCredential(null, 'a signing token for this signature', [])
        : checkCredential(delivery.header('x-gitlab-token'), 'X-Gitlab-Token', tokens)
    },
    facts: (payload, delivery) => ({
      id: headerToken(delivery, isSigned(delivery) ? 'webhook-id' : 'idempotency-key'),
      source: 'gitlab',
      type: textOf(memberOf(payload, 'object_kind')) ?? textOf(memberOf(payload, 'event_name')),
      version: null,
      at: null,
    }),
    data: (payload) => payload,
  }
}

function isSigned(delivery: Delivery): boolean {
  return delivery.header('webhook-signature') !== null
}
