import { createPublicKey, type KeyObject } from 'node:crypto'
import { CounterfoilError, type Duration, type Instant } from '../../domain/index.ts'
import {
  covered,
  digestFits,
  type HttpAlgorithm,
  type HttpSignature,
  httpAlgorithms,
  isHttpSigned,
  parameter,
  signatureBase,
  httpSignatures as signaturesOf,
} from '../http-signature.ts'
import { type EventPlaces, placeInWords, readsPlaces } from '../places.ts'
import type { Delivery, OfflineKind, Verification } from '../producer.ts'
import {
  checkFreshness,
  hmacKey,
  maxSignatures,
  noMatch,
  noTimestamp,
  refused,
  stale,
  strictBase64,
  toleranceOf,
  verified,
} from '../signature.ts'

/** A key that verifies HTTP message signatures (RFC 9421). */
export interface HttpSignatureKey {
  /** As `keyid` names it; several may share one while one is replaced. */
  readonly keyid: string
  readonly algorithm: HttpAlgorithm
  /** A public key as PEM; base64 of the shared bytes for `hmac-sha256`. */
  readonly key: string
}

export interface HttpSignaturesOptions extends EventPlaces {
  readonly keys: readonly HttpSignatureKey[]
  /** What a signature must cover at least. Default `@method`, `@authority`, `@path`, `content-digest`. */
  readonly covers?: readonly string[]
  /** Of several signatures, those with this tag alone. */
  readonly tag?: string
  /** How far `created` may be from now, in both directions. Default 300. */
  readonly toleranceSeconds?: number
  /** JSON Pointers of members that change between deliveries of one event. */
  readonly volatile?: readonly string[]
  /** How long it may send one event again. Default `7d`. */
  readonly retryHorizon?: Duration
}

const defaultCovers = ['@method', '@authority', '@path', 'content-digest']

/**
 * Any producer that signs with HTTP message signatures (RFC 9421) and Content-Digest (RFC 9530). A signature
 * counts only when it covers what is asked for: RFC 9421 itself has a valid one over nothing at all.
 *
 * @throws CounterfoilError `config_invalid` without a key, with one that is none, or with a place that is none
 */
export function httpSignatures(options: HttpSignaturesOptions): OfflineKind {
  const keys = keysOf(options.keys)
  const covers = options.covers ?? defaultCovers
  const tolerance = toleranceOf('HTTP signatures', options.toleranceSeconds)
  const reads = readsPlaces('http-signatures', options, {
    body: covers.includes('content-digest'),
    headers: covers,
  })
  return {
    ...reads,
    kind: 'http-signatures',
    contentTypes: ['application/json'],
    signsUrl: true,
    volatile: options.volatile ?? [],
    retryHorizon: options.retryHorizon ?? '7d',
    maxBytes: 1_048_576,
    about: {
      signed: `${covers.map((name) => `\`${name}\``).join(', ')}, and the body through its digest; by configuration`,
      freshness: '`created`, 300 s, and `expires`',
      identity: `${placeInWords(options.id)}, by configuration`,
      identitySigned: reads.provenance === 'signed',
      type: `${placeInWords(options.type)}, by configuration`,
      version: placeInWords(options.version),
      retries: 'by the sender',
      ordering: 'none',
      handshake: null,
      expects: '2xx',
      sources: ['https://www.rfc-editor.org/rfc/rfc9421', 'https://www.rfc-editor.org/rfc/rfc9530'],
    },
    verify(delivery, now) {
      const mine = signaturesOf(delivery)
        .slice(0, maxSignatures)
        .filter((one) => options.tag === undefined || parameter(one, 'tag') === options.tag)
      if (mine.length === 0)
        return refused('signature_missing', 'there is no Signature with its Signature-Input')
      let verdict: Verification = noMatch
      for (const signature of mine) {
        verdict = check(delivery, signature, keys, covers, now, tolerance)
        if (verdict.kind === 'verified') return verdict
      }
      return verdict
    },
  }
}

interface Key {
  readonly keyid: string
  readonly algorithm: HttpAlgorithm
  readonly object: KeyObject
}

function check(
  delivery: Delivery,
  signature: HttpSignature,
  keys: readonly Key[],
  covers: readonly string[],
  now: Instant,
  tolerance: number,
): Verification {
  const missing = covers.find((name) => !covered(signature).includes(name))
  if (missing !== undefined) return refused('signature_invalid', `a signature does not cover ${missing}`)
  const asked = parameter(signature, 'alg')
  const base = signatureBase(delivery, signature)
  const matches =
    base !== undefined &&
    keys.some(
      ({ keyid, algorithm, object }) =>
        keyid === parameter(signature, 'keyid') &&
        (asked === undefined || asked === algorithm) &&
        isHttpSigned(algorithm, object, base, signature.bytes),
    )
  if (!matches) return noMatch
  if (
    covered(signature).includes('content-digest') &&
    !digestFits(delivery.header('content-digest'), delivery.body)
  ) {
    return refused('signature_invalid', 'Content-Digest is not that of the body')
  }
  const [created, expires] = [parameter(signature, 'created'), parameter(signature, 'expires')]
  if (typeof created !== 'number') return noTimestamp
  if (typeof expires === 'number' && now > expires * 1000) {
    return stale('the signature has expired', created)
  }
  const fresh = checkFreshness(created, now, tolerance)
  return fresh.kind === 'verified' ? verified : fresh
}

const keyTypes: Readonly<Record<HttpAlgorithm, readonly (string | undefined)[]>> = {
  'hmac-sha256': [undefined],
  ed25519: ['ed25519'],
  'ecdsa-p256-sha256': ['ec'],
  'ecdsa-p384-sha384': ['ec'],
  'rsa-pss-sha512': ['rsa', 'rsa-pss'],
  'rsa-v1_5-sha256': ['rsa'],
}

function keysOf(given: readonly HttpSignatureKey[]): readonly Key[] {
  const keys = Array.isArray(given) ? given.map(keyOf) : []
  if (keys.length > 0 && keys.every((key) => key !== undefined)) return keys
  throw new CounterfoilError(
    'config_invalid',
    'A key of an http-signatures producer is none, or there is none.',
    {
      hint: `Give keyid, algorithm (${httpAlgorithms.join(', ')}) and a key of its type: PEM, or base64 for hmac-sha256.`,
    },
  )
}

function keyOf(about: HttpSignatureKey | undefined): Key | undefined {
  if (about === undefined || typeof about.keyid !== 'string' || !httpAlgorithms.includes(about.algorithm))
    return undefined
  const object = keyObject(about)
  const fits = object !== undefined && keyTypes[about.algorithm].includes(object.asymmetricKeyType)
  return fits ? { keyid: about.keyid, algorithm: about.algorithm, object } : undefined
}

function keyObject({ algorithm, key }: HttpSignatureKey): KeyObject | undefined {
  if (algorithm === 'hmac-sha256') {
    const bytes = strictBase64(key)
    return bytes === undefined || bytes.length < 16 ? undefined : hmacKey(bytes)
  }
  try {
    return createPublicKey(key)
  } catch {
    return undefined
  }
}
