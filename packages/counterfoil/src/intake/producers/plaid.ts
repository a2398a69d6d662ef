import { createHash } from 'node:crypto'
import { decodeJwt, type JWK } from 'jose'
import { verifyJwt } from '../jwt.ts'
import { contentId, joined, memberOf, textOf } from '../members.ts'
import type { Delivery, KeySource, ProducerKind } from '../producer.ts'
import { noMatch, sameText, secretsOf, toleranceOf, verified } from '../signature.ts'
import { unordered } from './words.ts'

export interface PlaidOptions {
  /** To ask Plaid for its keys. */
  readonly clientId: string
  readonly secret: string
  /** Default `production`. */
  readonly environment?: 'production' | 'sandbox'
  /** How old the token may be. Default 300. */
  readonly toleranceSeconds?: number
}

/**
 * Plaid webhooks. Signed: a token with the time and the SHA-256 of the body; its key is asked of Plaid by name.
 * There is no event id. The same content may honestly come again, so the signed time is part of the identity:
 * whether a retry keeps it is not documented.
 *
 * @throws CounterfoilError `config_invalid` without credentials
 */
export function plaid(options: PlaidOptions): ProducerKind {
  const [clientId] = secretsOf('Plaid', options.clientId, 'client id')
  const [secret] = secretsOf('Plaid', options.secret)
  const tolerance = toleranceOf('Plaid', options.toleranceSeconds)
  const host = `${options.environment ?? 'production'}.plaid.com`
  return {
    kind: 'plaid',
    contentTypes: ['application/json'],
    provenance: 'signed',
    volatile: [],
    retryHorizon: '24h',
    maxBytes: 1_048_576,
    keyHosts: [host],
    about: {
      signed: 'a JWT (ES256) with time and SHA-256 of the body; keys at Plaid',
      freshness: '`iat` of the token, 300 s',
      identity: '`iat` and the content: there is no id',
      identitySigned: true,
      type: '`webhook_type` and `webhook_code`, as `ITEM.ERROR`',
      version: null,
      retries: 'from 30 s on, each four times as long as the one before, for 24 h',
      ordering: unordered,
      handshake: null,
      expects: '200 within 10 s; honours Retry-After on 429, up to 4 h',
      sources: [
        'https://plaid.com/docs/api/webhooks/webhook-verification/',
        'https://plaid.com/docs/api/webhooks/',
      ],
    },
    async verify(delivery, now, keys) {
      const token = delivery.header('plaid-verification')
      const ask = (kid: string) =>
        askForKey(keys, `https://${host}/webhook_verification_key/get`, { clientId, secret, kid })
      const verdict = await verifyJwt(token, ask, now, { algorithms: ['ES256'], maxAgeSeconds: tolerance })
      if (verdict.kind === 'refused') return verdict
      const claimed = verdict.claims.request_body_sha256
      const digest = createHash('sha256').update(delivery.body).digest('hex')
      return typeof claimed === 'string' && sameText(claimed, digest) ? verified : noMatch
    },
    facts(payload, delivery) {
      const type = joined(
        textOf(memberOf(payload, 'webhook_type')),
        textOf(memberOf(payload, 'webhook_code')),
      )
      return {
        id: contentId(payload, { signedAt: issuedAt(delivery) }),
        source: textOf(memberOf(payload, 'item_id')) ?? 'plaid',
        type: type === null ? null : type.replace('/', '.'),
        version: null,
        at: null,
      }
    },
    data: (payload) => payload,
  }
}

async function askForKey(
  keys: KeySource,
  url: string,
  { clientId, secret, kid }: { clientId: string | undefined; secret: string | undefined; kid: string },
): Promise<JWK | null> {
  const body = JSON.stringify({ client_id: clientId, secret, key_id: kid })
  const headers = { 'content-type': 'application/json' }
  const key = await keys.get({ url, method: 'POST', headers, body }, (answer) => {
    return (JSON.parse(Buffer.from(answer).toString()) as { key: JWK & { expired_at?: string | null } }).key
  })
  // The name is the sender's choice, the key must be the one that was asked for.
  return key !== null && key.kid === kid && (key.expired_at ?? null) === null ? key : null
}

function issuedAt(delivery: Delivery): string {
  return String(decodeJwt(delivery.header('plaid-verification') ?? '').iat ?? '')
}
