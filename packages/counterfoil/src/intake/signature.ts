import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import { CounterfoilError, type ErrorCode, type Instant } from '../domain/index.ts'
import type { Delivery, Verification } from './producer.ts'

/** Parts that verifiers share. Keys live in closures and key objects: nothing here can be printed by accident. */

export const verified: Verification = { kind: 'verified' }

export function refused(code: ErrorCode, why: string): Verification {
  return { kind: 'refused', code, why }
}

/** Signatures of one delivery that are looked at; more come from no honest sender. */
export const maxSignatures = 32
/** How far a signed timestamp may be from now, in both directions, unless a producer documents another. */
export const defaultToleranceSeconds = 300

/**
 * The secrets as a list of their own: what the caller does to his array later changes nothing here.
 *
 * @param what it is, where a credential or the name of an account stands in for a secret
 * @throws CounterfoilError `config_invalid` when there is none or one is blank. Never quotes one.
 */
export function secretsOf(
  kind: string,
  secrets: string | readonly string[],
  what: string = 'secret',
): readonly string[] {
  const list = typeof secrets === 'string' ? [secrets] : Array.isArray(secrets) ? [...secrets] : []
  if (list.length === 0 || list.some((secret) => typeof secret !== 'string' || secret.trim() === '')) {
    throw new CounterfoilError('config_invalid', `A producer of ${kind} has no ${what}, or an empty one.`, {
      hint: `Is the environment variable set? Without a ${what} anybody could send.`,
    })
  }
  return list
}

/** @throws CounterfoilError `config_invalid` */
export function toleranceOf(kind: string, seconds: number | undefined): number {
  const tolerance = seconds ?? defaultToleranceSeconds
  if (Number.isFinite(tolerance) && tolerance > 0) return tolerance
  throw new CounterfoilError('config_invalid', `The tolerance of a producer of ${kind} is ${tolerance}.`, {
    hint: 'Give a positive number of seconds. It cannot be switched off: a captured delivery would be good for ever.',
  })
}

export function hmacKey(bytes: Uint8Array | string): KeyObject {
  return createSecretKey(typeof bytes === 'string' ? Buffer.from(bytes) : bytes)
}

/**
 * HMAC over a prefix and the raw bytes.
 *
 * @param prefix header text: a header holds bytes, one a character, and goes into the digest as it came
 * @param algorithm `sha1` only where a producer has nothing else; as a MAC it still holds (RFC 6194 section 3.3)
 */
export function hmacText(
  key: KeyObject,
  prefix: string,
  body: Uint8Array | string,
  encoding: 'hex' | 'base64',
  algorithm: 'sha256' | 'sha1' = 'sha256',
): string {
  const hmac = createHmac(algorithm, key)
  if (prefix !== '') hmac.update(prefix, 'latin1')
  return hmac.update(body).digest(encoding)
}

/**
 * Compares whole texts, in a time that tells nothing but their length. The expected text is the one canonical
 * spelling of a digest, so a signature that is cut, padded, in another case or another alphabet is another one.
 */
export function sameText(given: string, expected: string): boolean {
  if (given.length !== expected.length) return false
  const left = Buffer.from(given)
  const right = Buffer.from(expected)
  return left.length === right.length && timingSafeEqual(left, right)
}

/** Any of the given signatures under any of the keys: both sides rotate. */
export function anyMatches(
  given: readonly string[],
  keys: readonly KeyObject[],
  expect: (key: KeyObject) => string,
): boolean {
  let found = false
  for (const key of keys) {
    const expected = expect(key)
    for (const signature of given) found = sameText(signature, expected) || found
  }
  return found
}

/** The one signature in this header, under any of the keys. A header that was sent twice holds a comma and matches nothing. */
export function checkHeader(
  delivery: Delivery,
  header: string,
  keys: readonly KeyObject[],
  expect: (key: KeyObject) => string,
): Verification {
  const given = delivery.header(header.toLowerCase())
  if (given === null) return refused('signature_missing', `${header} is missing`)
  return anyMatches([given], keys, expect) ? verified : noMatch
}

export interface Stamped {
  /** Names of the headers. */
  readonly timestamp: string
  readonly signature: string
  /** What the timestamp counts. Default `s`. */
  readonly unit?: 's' | 'ms'
  readonly keys: readonly KeyObject[]
  readonly toleranceSeconds: number
  /** The signature header as it should be, for the timestamp as it came. */
  readonly expect: (key: KeyObject, timestamp: string) => string
}

/** A timestamp in one header, and in another a signature that covers it. */
export function checkStamped(delivery: Delivery, now: Instant, about: Stamped): Verification {
  const { unit = 's', keys, toleranceSeconds } = about
  const timestamp = delivery.header(about.timestamp.toLowerCase())
  const count = unit === 's' ? strictSeconds(timestamp) : strictMilliseconds(timestamp)
  if (timestamp === null || count === undefined) return noTimestamp
  const signed = checkHeader(delivery, about.signature, keys, (key) => about.expect(key, timestamp))
  if (signed.kind === 'refused') return signed
  return checkFreshness(unit === 's' ? count : Math.floor(count / 1000), now, toleranceSeconds)
}

export const noMatch: Verification = refused(
  'signature_invalid',
  'no signature matches any configured secret',
)

/** The bytes of padded base64 in its one canonical spelling (RFC 4648 section 4), or undefined. */
export function strictBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}

/** A plain whole number of seconds, or undefined: `12abc`, `1.5` and `+1` are none. */
export function strictSeconds(text: string | null): number | undefined {
  return text !== null && /^\d{1,12}$/.test(text) ? Number(text) : undefined
}

function strictMilliseconds(text: string | null): number | undefined {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

export const noTimestamp: Verification = refused(
  'timestamp_invalid',
  'the timestamp is missing, or is no plain whole number',
)

/** Fresh within the tolerance, before and after now. */
export function checkFreshness(seconds: number, now: Instant, toleranceSeconds: number): Verification {
  const age = Math.floor(now / 1000) - seconds
  if (Math.abs(age) <= toleranceSeconds) return verified
  return stale(
    `the signed timestamp is ${Math.abs(age)} s ${age > 0 ? 'old' : 'in the future'}; the tolerance is ${toleranceSeconds} s`,
    seconds,
  )
}

/** Refused for its age alone. @param seconds when it would have been fresh */
export function stale(why: string, seconds: number): Verification {
  return { kind: 'refused', code: 'timestamp_stale', why, signedAt: seconds * 1000 }
}
