import { constants, createHash, createHmac, type KeyObject, timingSafeEqual, verify } from 'node:crypto'
import {
  type InnerList,
  type Item,
  isInnerList,
  parseDictionary,
  serializeInnerList,
  serializeItem,
} from 'structured-headers'
import type { Delivery } from './producer.ts'

/** HTTP message signatures (RFC 9421), requests alone; and digests of content (RFC 9530). */

export const httpAlgorithms = [
  'hmac-sha256',
  'ed25519',
  'ecdsa-p256-sha256',
  'ecdsa-p384-sha384',
  'rsa-pss-sha512',
  'rsa-v1_5-sha256',
] as const
export type HttpAlgorithm = (typeof httpAlgorithms)[number]

/** One signature of a request, not verified yet. */
export interface HttpSignature {
  readonly components: InnerList
  readonly bytes: Uint8Array
}

/**
 * The signatures that a request carries, each with what it says to cover. Labels without their counterpart are
 * none, and so is what cannot be read at all.
 */
export function httpSignatures(delivery: Delivery): readonly HttpSignature[] {
  const [inputs, signatures] = [delivery.header('signature-input'), delivery.header('signature')]
  if (inputs === null || signatures === null) return []
  try {
    const found = parseDictionary(signatures)
    return [...parseDictionary(inputs)].flatMap(([label, components]) => {
      const signature = found.get(label)
      if (!isInnerList(components) || signature === undefined || isInnerList(signature)) return []
      const [bytes] = signature
      return bytes instanceof ArrayBuffer ? [{ components, bytes: new Uint8Array(bytes) }] : []
    })
  } catch {
    return []
  }
}

/** A parameter of the signature itself, such as `keyid`; undefined when absent or of another type. */
export function parameter({ components }: HttpSignature, name: string): string | number | undefined {
  const value = components[1].get(name)
  return typeof value === 'string' || typeof value === 'number' ? value : undefined
}

/** Names of the covered components, without those that say more than a name. */
export function covered({ components }: HttpSignature): readonly string[] {
  return components[0].filter(([, about]) => about.size === 0).map(([name]) => String(name))
}

/** Section 2.5. Undefined when a component is missing, repeated, or one that is not supported here. */
export function signatureBase(delivery: Delivery, { components }: HttpSignature): string | undefined {
  const names = components[0].map((item) => serializeItem(item))
  if (new Set(names).size !== names.length) return undefined
  const lines: string[] = []
  for (const [at, item] of components[0].entries()) {
    const value = componentValue(delivery, item)
    if (value === undefined || /[\r\n]/.test(value)) return undefined
    lines.push(`${names[at]}: ${value}`)
  }
  return [...lines, `"@signature-params": ${serializeInnerList(components)}`].join('\n')
}

function componentValue(delivery: Delivery, [name, about]: Item): string | undefined {
  if (typeof name !== 'string' || name !== name.toLowerCase()) return undefined
  if (name === '@query-param')
    return queryParameter(delivery, about.size === 1 ? about.get('name') : undefined)
  // `sf`, `key`, `bs`, `tr`, `req`: nobody sends them with webhooks.
  if (about.size > 0) return undefined
  if (!name.startsWith('@')) return delivery.header(name)?.trim()
  const url = new URL(delivery.url)
  switch (name) {
    case '@method':
      return delivery.method
    case '@target-uri':
      return delivery.url
    case '@authority':
      return url.host.toLowerCase()
    case '@scheme':
      return url.protocol.slice(0, -1)
    case '@request-target':
      return url.pathname + url.search
    case '@path':
      return url.pathname
    case '@query':
      return url.search === '' ? '?' : url.search
    default:
      return undefined
  }
}

/** Section 2.2.8: one that is there once, spelled anew. */
function queryParameter(delivery: Delivery, encodedName: unknown): string | undefined {
  if (typeof encodedName !== 'string') return undefined
  const found = [...new URL(delivery.url).searchParams].filter(([name]) => formEncoded(name) === encodedName)
  return found.length === 1 ? formEncoded(found[0]![1]) : undefined
}

function formEncoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()~]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** Section 3.3. The algorithm is the key's, never one that the message asks for. */
export function isHttpSigned(
  algorithm: HttpAlgorithm,
  key: KeyObject,
  base: string,
  signature: Uint8Array,
): boolean {
  const bytes = Buffer.from(base, 'latin1')
  switch (algorithm) {
    case 'hmac-sha256': {
      const expected = createHmac('sha256', key).update(bytes).digest()
      return expected.length === signature.length && timingSafeEqual(expected, signature)
    }
    case 'ed25519':
      return verify(null, bytes, key, signature)
    case 'ecdsa-p256-sha256':
      return verify('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' }, signature)
    case 'ecdsa-p384-sha384':
      return verify('sha384', bytes, { key, dsaEncoding: 'ieee-p1363' }, signature)
    case 'rsa-pss-sha512':
      // 64 bytes of salt by the RFC; but http-message-signatures 1.0.6 takes as many as fit, which is no weaker.
      return verify('sha512', bytes, { key, padding, saltLength }, signature)
    case 'rsa-v1_5-sha256':
      return verify('sha256', bytes, key, signature)
  }
}

const { RSA_PKCS1_PSS_PADDING: padding, RSA_PSS_SALTLEN_AUTO: saltLength } = constants

const digests = { 'sha-256': 'sha256', 'sha-512': 'sha512' } as const

/**
 * Whether `Content-Digest` is that of these bytes (RFC 9530 section 2): every digest in it that is known here, and
 * at least one. A signature covers the header only; the body is covered once this holds.
 */
export function digestFits(header: string | null, body: Uint8Array): boolean {
  try {
    const known = [...parseDictionary(header ?? '')].filter(([name]) => Object.hasOwn(digests, name))
    return (
      known.length > 0 &&
      known.every(([name, [given]]) => {
        const digest = createHash(digests[name as keyof typeof digests])
          .update(body)
          .digest()
        return given instanceof ArrayBuffer && digest.equals(new Uint8Array(given))
      })
    )
  } catch {
    return false
  }
}
