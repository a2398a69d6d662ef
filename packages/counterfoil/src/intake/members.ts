import type { Instant, JsonValue } from '../domain/index.ts'

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
