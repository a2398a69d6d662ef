import { fingerprintJson, type Instant, type JsonValue, readJson } from '../domain/index.ts'

/** Reading members of a payload that may be of any shape. Own members only. */

/** Undefined when it is absent; null when it is null. */
export function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, name)) {
    return undefined
  }
  return (value as { readonly [name: string]: JsonValue })[name]
}

/** Non-empty text, else null. */
export function textOf(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** RFC 3339. Without an offset it would mean another time on another machine. */
const dateTime = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/
/** The furthest time that a Date holds, in milliseconds (ECMA-262, time values). */
const furthest = 8.64e15

/** Text of RFC 3339, or a number of seconds; else null. */
export function instantOf(value: JsonValue | undefined): Instant | null {
  let at = Number.NaN
  if (typeof value === 'number') at = Math.trunc(value * 1000)
  else if (typeof value === 'string' && dateTime.test(value)) at = Date.parse(value)
  return Math.abs(at) <= furthest ? at : null
}

/** A body whose signature or signed timestamp lies inside it. The same strict reader; undefined when it is not that. */
export function signedMembers(body: Uint8Array): JsonValue | undefined {
  const reading = readJson(body, { numbers: 'lossless' })
  return reading.kind === 'read' ? reading.value : undefined
}

export function elementsOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}

/** The same with milliseconds, as some vendors count. */
export function instantOfMilliseconds(value: JsonValue | undefined): Instant | null {
  return typeof value === 'number' ? instantOf(value / 1000) : null
}

/** The part of an envelope that is the event itself; all of it where there is none. */
export function partOf(payload: JsonValue, ...path: readonly string[]): JsonValue {
  const part = path.reduce<JsonValue | undefined>(memberOf, payload)
  return part === undefined ? payload : part
}

/** Text, or a whole number as text: vendors write ids in both ways. Else null. */
export function nameOf(value: JsonValue | undefined): string | null {
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return String(value)
  return textOf(value)
}

/** An id of several members, or null when one is missing. Only the last may hold a `/`, so no two spell the same. */
export function joined(...parts: readonly (string | null)[]): string | null {
  return parts.every((part) => part !== null) ? parts.join('/') : null
}

/**
 * For events that have no id: their content is the same only when they are the same event.
 *
 * @param about.volatile JSON Pointers of members that change between deliveries of one event
 * @param about.signedAt the signed time of sending, where equal content may honestly come again: rather two
 *   receipts of one event, whose effects meet under one key, than one event lost
 */
export function contentId(
  payload: JsonValue | undefined,
  about: { readonly volatile?: readonly string[]; readonly signedAt?: string } = {},
): string | null {
  if (payload === undefined) return null
  const digest = fingerprintJson(payload, about).replace('jcs-sha256:', '')
  return about.signedAt === undefined ? `content/${digest}` : `content/${about.signedAt}/${digest}`
}
