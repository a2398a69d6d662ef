import { createHmac, type KeyObject } from 'node:crypto'
import { CounterfoilError, type Duration } from '../../domain/index.ts'
import { authorization, checkBasic, checkCredential } from '../credential.ts'
import { type EventPlaces, isHeaderName, placeInWords, readsPlaces } from '../places.ts'
import type { Delivery, OfflineKind, ProducerFacts } from '../producer.ts'
import { checkHeader, checkStamped, hmacKey, secretsOf, toleranceOf } from '../signature.ts'

/** A secret that both sides know signs what the template says. */
export interface HmacAuthentication {
  readonly scheme: 'hmac'
  readonly secrets: string | readonly string[]
  /** The header that holds the signature, and nothing beside its mark. */
  readonly header: string
  /** What stands before the digest, such as `sha256=`. Default: nothing. */
  readonly mark?: string
  /** Default `sha256`. */
  readonly algorithm?: 'sha1' | 'sha256' | 'sha512'
  readonly encoding: 'hex' | 'base64'
  /**
   * What is signed: text with `{body}`, `{timestamp}`, `{method}`, `{url}` and `{header:NAME}` in it. Default
   * `{body}`, and `{timestamp}.{body}` where there is a timestamp.
   */
  readonly signs?: string
  readonly timestamp?: {
    readonly header: string
    readonly unit?: 's' | 'ms'
    readonly toleranceSeconds?: number
  }
}

/** A credential that vouches for the sender, and for no byte of what he sends. */
export type CredentialAuthentication =
  | { readonly scheme: 'bearer'; readonly tokens: string | readonly string[] }
  /** `user:password`. */
  | { readonly scheme: 'basic'; readonly credentials: string | readonly string[] }
  | { readonly scheme: 'header'; readonly header: string; readonly tokens: string | readonly string[] }

export interface CustomOptions extends EventPlaces {
  /** What this kind is called in receipts' facts and in `check`. */
  readonly kind: string
  readonly authentication: HmacAuthentication | CredentialAuthentication
  /** Default `application/json`. */
  readonly contentTypes?: readonly string[]
  /** JSON Pointers of members that change between deliveries of one event. */
  readonly volatile?: readonly string[]
  /** How long it may send one event again: identities are kept for that long at least. */
  readonly retryHorizon: Duration
  /** In bytes. Default 1 MiB. */
  readonly maxBytes?: number
  /** Facts for docs and `check`, in words. */
  readonly about?: Partial<ProducerFacts>
}

/**
 * A producer of one's own, described in the configuration. Whether id and type are signed follows from where they
 * are and from what the signature covers.
 *
 * @throws CounterfoilError `config_invalid` without a secret, or with a template or a place that is none
 */
export function custom(options: CustomOptions): OfflineKind {
  const { authentication: way } = options
  const signing = way.scheme === 'hmac' ? hmacSigning(options.kind, way) : credential(options.kind, way)
  const reads = readsPlaces(options.kind, options, signing.covers)
  return {
    ...reads,
    kind: options.kind,
    contentTypes: options.contentTypes ?? ['application/json'],
    volatile: options.volatile ?? [],
    retryHorizon: options.retryHorizon,
    maxBytes: options.maxBytes ?? 1_048_576,
    signsUrl: signing.signsUrl,
    about: {
      signed: signing.words,
      freshness: signing.freshness,
      identity: placeInWords(options.id) ?? '',
      identitySigned: reads.provenance === 'signed',
      type: placeInWords(options.type) ?? '',
      version: placeInWords(options.version),
      retries: `within ${options.retryHorizon}`,
      ordering: 'none',
      handshake: null,
      expects: '2xx',
      sources: [],
      ...options.about,
    },
    verify: signing.verify,
  }
}

interface Signing {
  readonly verify: OfflineKind['verify']
  readonly covers: { readonly body: boolean; readonly headers: readonly string[] }
  readonly signsUrl: boolean
  readonly words: string
  readonly freshness: string
}

function hmacSigning(kind: string, way: HmacAuthentication): Signing {
  const keys = secretsOf(kind, way.secrets).map(hmacKey)
  const { algorithm = 'sha256', mark = '', timestamp, header } = way
  const template = way.signs ?? (timestamp === undefined ? '{body}' : '{timestamp}.{body}')
  const parts = partsOf(kind, template)
  if (parts.includes('{timestamp}') !== (timestamp !== undefined)) {
    throw invalid(
      kind,
      'A timestamp that is not signed proves nothing: have {timestamp} in signs and give timestamp, or neither.',
    )
  }
  const toleranceSeconds = toleranceOf(kind, timestamp?.toleranceSeconds)
  const expect = (key: KeyObject, delivery: Delivery, stamp: string) => {
    const hmac = createHmac(algorithm, key)
    for (const part of parts) hmac.update(bytesOf(part, delivery, stamp))
    return mark + hmac.digest(way.encoding)
  }
  const names = parts.flatMap((part) => /^\{header:(.+)\}$/.exec(part)?.[1]?.toLowerCase() ?? [])
  if (![header, timestamp?.header ?? 'x', ...names].every(isHeaderName))
    throw invalid(kind, 'A header name is none.')
  return {
    covers: { body: parts.includes('{body}'), headers: names },
    signsUrl: parts.includes('{url}'),
    words: `\`${template}\`, HMAC-${algorithm.toUpperCase()} in ${way.encoding}`,
    freshness: timestamp === undefined ? 'none' : `header \`${timestamp.header}\`, ${toleranceSeconds} s`,
    verify(delivery, now) {
      if (timestamp === undefined)
        return checkHeader(delivery, header, keys, (key) => expect(key, delivery, ''))
      return checkStamped(delivery, now, {
        timestamp: timestamp.header,
        signature: header,
        unit: timestamp.unit ?? 's',
        keys,
        toleranceSeconds,
        expect: (key, stamp) => expect(key, delivery, stamp),
      })
    },
  }
}

/** Placeholders and the text between them. */
function partsOf(kind: string, template: string): readonly string[] {
  const parts = template.split(/(\{[^{}]*\})/).filter((part) => part !== '')
  const known = /^(?:[^{}]+|\{(?:body|timestamp|method|url|header:[^{}]+)\})$/
  if (parts.length > 0 && parts.every((part) => known.test(part))) return parts
  throw invalid(
    kind,
    'signs holds {body}, {timestamp}, {method}, {url} or {header:NAME}, and text between them.',
  )
}

/** Header text is bytes, one a character, and signed as it came. */
function bytesOf(part: string, delivery: Delivery, timestamp: string): Uint8Array {
  if (part === '{body}') return delivery.body
  if (part === '{timestamp}') return Buffer.from(timestamp, 'latin1')
  if (part === '{method}') return Buffer.from(delivery.method)
  if (part === '{url}') return Buffer.from(delivery.url)
  const [, header] = /^\{header:(.+)\}$/.exec(part) ?? []
  return header === undefined
    ? Buffer.from(part)
    : Buffer.from(delivery.header(header.toLowerCase()) ?? '', 'latin1')
}

function credential(kind: string, way: CredentialAuthentication): Signing {
  const secrets = secretsOf(kind, way.scheme === 'basic' ? way.credentials : way.tokens)
  if (way.scheme === 'header' && !isHeaderName(way.header)) throw invalid(kind, 'A header name is none.')
  return {
    covers: { body: false, headers: [] },
    signsUrl: false,
    words: `nothing: ${way.scheme === 'header' ? `a token in the header \`${way.header}\`` : `${way.scheme} authentication`}`,
    freshness: 'none',
    verify(delivery) {
      if (way.scheme === 'basic') return checkBasic(delivery, secrets)
      if (way.scheme === 'bearer')
        return checkCredential(authorization(delivery, 'Bearer'), 'Authorization: Bearer', secrets)
      return checkCredential(delivery.header(way.header.toLowerCase()), way.header, secrets)
    },
  }
}

function invalid(kind: string, hint: string): CounterfoilError {
  return new CounterfoilError('config_invalid', `Producer kind '${kind}' is described wrongly.`, { hint })
}
