import type { KeyObject } from 'node:crypto'
import type { Instant } from '../../domain/index.ts'
import type { Delivery } from '../delivery.ts'
import type { Verification } from '../producer-kind.ts'
import {
  anyMatches,
  checkFreshness,
  hmacKey,
  hmacText,
  maxSignatures,
  noMatch,
  noTimestamp,
  refused,
  strictSeconds,
} from '../signature.ts'
import type { CloudEventMessage } from './modes.ts'

/**
 * CloudEvents have no signature of their own, and in binary mode the identity is in headers. So ours covers them:
 * HMAC-SHA256 of the time of sending, a line for `content-type` and each `ce-` header, in order of their names,
 * an empty line, and the body. It travels as `t=SECONDS,v1=HEX`; several `v1` while a secret is replaced.
 */
export const signatureHeader = 'counterfoil-signature'

/** The headers of the message with its signature, for a sender. @param at unix seconds */
export function signCloudEvent(
  { headers, body }: CloudEventMessage,
  secret: string,
  at: number,
): Readonly<Record<string, string>> {
  const signed = hmacText(hmacKey(secret), signedText(at, Object.entries(headers)), body, 'hex')
  return { ...headers, [signatureHeader]: `t=${at},v1=${signed}` }
}

export function verifySignature(
  delivery: Delivery,
  now: Instant,
  keys: readonly KeyObject[],
  toleranceSeconds: number,
): Verification {
  const header = delivery.header(signatureHeader)
  if (header === null) return refused('signature_missing', `${signatureHeader} is missing`)
  const [time = '', ...signatures] = header.split(',', maxSignatures + 1)
  const seconds = time.startsWith('t=') ? strictSeconds(time.slice(2)) : undefined
  if (seconds === undefined) return noTimestamp
  const prefix = signedText(seconds, delivery.headers())
  const matches = anyMatches(signatures, keys, (key) => `v1=${hmacText(key, prefix, delivery.body, 'hex')}`)
  return matches ? checkFreshness(seconds, now, toleranceSeconds) : noMatch
}

/** Header values as they travel: one byte a character. */
function signedText(at: number, headers: Iterable<readonly [name: string, value: string]>): string {
  const lines = [...headers]
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => name === 'content-type' || name.startsWith('ce-'))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name}:${value}\n`)
  return `${at}\n${lines.join('')}\n`
}
