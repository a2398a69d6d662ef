import { instantOf } from '../members.ts'
import type { Delivery, OfflineKind } from '../producer.ts'
import { checkHeader, hmacKey, hmacText, secretsOf } from '../signature.ts'
import { headerToken } from './header-token.ts'
import { noFreshness, unordered } from './words.ts'

export interface ShopifyOptions {
  /** The app's client secret. After a new one was made Shopify may sign with the old one for an hour: give both. */
  readonly secrets: string | readonly string[]
}

/**
 * Shopify webhooks over HTTPS, and its newer events, whose headers have no `X-`. Signed: the raw body alone. One
 * secret serves every shop of an app, and the shop is in an unsigned header: so it is no namespace.
 *
 * @throws CounterfoilError `config_invalid` without a secret
 */
export function shopify(options: ShopifyOptions): OfflineKind {
  const keys = secretsOf('Shopify', options.secrets).map(hmacKey)
  return {
    kind: 'shopify',
    contentTypes: ['application/json'],
    provenance: 'unsigned',
    volatile: [],
    retryHorizon: '4h',
    maxBytes: 1_048_576,
    about: {
      signed: 'the raw body, HMAC-SHA256 in base64',
      freshness: noFreshness,
      identity: 'header `X-Shopify-Webhook-Id`',
      identitySigned: false,
      type: 'header `X-Shopify-Topic`',
      version: 'header `X-Shopify-API-Version`',
      retries: '8 times within 4 h; then the subscription is deleted',
      ordering: unordered,
      handshake: null,
      expects: '2xx within 5 s',
      sources: [
        'https://shopify.dev/docs/apps/build/webhooks/verify-deliveries',
        'https://shopify.dev/changelog',
        '@shopify/shopify-api 13.1.0',
      ],
    },
    verify: (delivery) =>
      checkHeader(delivery, `${prefixOf(delivery)}hmac-sha256`, keys, (key) =>
        hmacText(key, '', delivery.body, 'base64'),
      ),
    facts(_, delivery) {
      const header = (name: string) => headerToken(delivery, `${prefixOf(delivery)}${name}`)
      const at = delivery.header(`${prefixOf(delivery)}triggered-at`)
      return {
        id: header('webhook-id'),
        source: 'shopify',
        type: header('topic'),
        version: header('api-version'),
        at: instantOf(at ?? undefined),
      }
    },
    data: (payload) => payload,
  }
}

/** One family of headers counts as a whole: a good signature in one never vouches for ids in the other. */
function prefixOf(delivery: Delivery): string {
  return delivery.header('shopify-hmac-sha256') === null ? 'x-shopify-' : 'shopify-'
}
