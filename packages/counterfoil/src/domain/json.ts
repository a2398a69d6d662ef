import { assert } from './errors.ts'
import { isWhole } from './json-number.ts'
import { numberFault, type ScanRules, scanJson } from './json-scan.ts'

/** What a JSON text can mean here. `bigint` only where a producer declared its numbers lossless. */
export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue }

export type JsonReading =
  | { readonly kind: 'read'; readonly value: JsonValue }
  /** `offset` is in bytes. */
  | { readonly kind: 'syntax'; readonly message: string; readonly offset: number }
  /** Valid JSON that a program would not see as it was sent. `path` is a JSON Pointer, cut at 500 characters. */
  | { readonly kind: 'notRepresentable'; readonly why: string; readonly path: string }

export interface JsonOptions {
  /** `lossless`: whole numbers beyond 2^53 - 1 become bigint, when written without fraction and exponent. */
  readonly numbers: 'double' | 'lossless'
  /** Levels of objects and arrays. Default 128, at most 1000. */
  readonly maxDepth?: number
}

export const defaultMaxDepth = 128

/** Deepest that values may go anywhere: what walks them recurses, and must not run out of stack. */
export const maxJsonDepth = 1_000

/**
 * Reads JSON strictly: RFC 8259, and of RFC 7493 what a program must have to see what was sent. Two members
 * of one name, half of a surrogate pair, a number that a double would change, and too deep a nesting are not
 * representable. Broken syntax wins over those; of those, the first is told. `-0` is read as 0.
 *
 * A quick look over the bytes and the platform's own parser clear nearly every text; any doubt is settled by
 * `scanJson`, before a value is built where it is a doubt about depth. On `@octokit/webhooks-examples` that takes
 * half the time of a parser of our own.
 */
export function readJson(bytes: Uint8Array, options: JsonOptions): JsonReading {
  const rules = { lossless: options.numbers === 'lossless', maxDepth: options.maxDepth ?? defaultMaxDepth }
  assert(rules.maxDepth <= maxJsonDepth, `JSON may be read ${maxJsonDepth} levels deep at most`)
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const text = decode(bytes)
  if (text === undefined) {
    return { kind: 'syntax', message: 'the text is not UTF-8', offset: firstNotUtf8(buffer) }
  }
  const look = lookOver(bytes, rules)
  if (!look.doubt) {
    const value = parse(text, look.respell, rules.lossless)
    const mayHoldHalves = look.escapes && surrogateEscape.test(text)
    if (
      value !== undefined &&
      countMembers(value) === look.members &&
      !(mayHoldHalves && holdsHalves(value))
    ) {
      return { kind: 'read', value }
    }
  }
  const verdict = scanJson(buffer, rules)
  if (verdict.kind !== 'valid') return verdict
  const value = parse(text, true, rules.lossless)
  assert(value !== undefined, 'the scan let a text pass that is not JSON')
  return { kind: 'read', value }
}

const surrogateEscape = /\\u[dD][89a-fA-F]/

interface Look {
  /** A number or the depth may not be representable. Nothing after it was looked at. */
  doubt: boolean
  /** A string holds an escape. */
  escapes: boolean
  /** A number must become 0 or a bigint. */
  respell: boolean
  /** Colons outside strings: the members of a valid text, with those that `JSON.parse` would drop. */
  members: number
}

/**
 * One quick look over the bytes. Where the text is not JSON it may see nonsense after the error, but not
 * before: so the parser that follows meets the error first, and never a depth that was not counted.
 */
function lookOver(bytes: Uint8Array, rules: ScanRules): Look {
  const { length } = bytes
  const look: Look = { doubt: false, escapes: false, respell: false, members: 0 }
  let depth = 0
  let members = 0
  let at = 0
  while (at < length) {
    const byte = bytes[at++]!
    if (byte === 0x22) {
      while (at < length) {
        const inside = bytes[at++]
        if (inside === 0x22) break
        if (inside === 0x5c) {
          look.escapes = true
          at++
        }
      }
    } else if (byte === 0x3a) {
      members++
    } else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > rules.maxDepth) look.doubt = true
    } else if (byte === 0x7d || byte === 0x5d) {
      depth--
    } else if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) {
      const begun = at - 1
      let exponent = false
      for (; at < length; at++) {
        const next = bytes[at]!
        if (next === 0x65 || next === 0x45) exponent = true
        else if (next > 0x39 || next < 0x2b || next === 0x2c || next === 0x2f) break
      }
      // A double carries any 15 digits (IEEE 754), and only `-0…` can be the negative zero.
      if (exponent || at - begun > 15 || (byte === 0x2d && bytes[begun + 1] === 0x30)) {
        const text = Buffer.from(bytes.buffer, bytes.byteOffset + begun, at - begun).toString('latin1')
        if (respelled(text, rules.lossless)) look.respell = true
        if (numberFault(text, rules.lossless) !== undefined) look.doubt = true
      }
    }
    if (look.doubt) break
  }
  look.members = members
  return look
}

/** Whether a number is not what `JSON.parse` makes of it: negative zero, or a bigint. */
function respelled(text: string, lossless: boolean): boolean {
  const value = Number(text)
  return Object.is(value, -0) || (lossless && !Number.isSafeInteger(value) && isWhole(text))
}

/** @returns undefined when the text is not JSON */
function parse(text: string, respell: boolean, lossless: boolean): JsonValue | undefined {
  try {
    return respell ? parseRespelled(text, lossless) : (JSON.parse(text) as JsonValue)
  } catch {
    return undefined
  }
}

/** Several times slower than without the callback, so only for texts that have such a number. */
function parseRespelled(text: string, lossless: boolean): JsonValue {
  const respell = (_name: string, value: unknown, { source = '' }: { source?: string }) => {
    if (typeof value !== 'number') return value
    if (value === 0) return 0
    return lossless && !Number.isSafeInteger(value) && isWhole(source) ? BigInt(source) : value
  }
  return (JSON.parse as (text: string, reviver: typeof respell) => JsonValue)(text, respell)
}

/** Own members of all objects in a value. */
function countMembers(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 0
  const isArray = Array.isArray(value)
  const inside: readonly JsonValue[] = isArray ? value : Object.values(value)
  let count = isArray ? 0 : inside.length
  for (const one of inside) if (typeof one === 'object' && one !== null) count += countMembers(one)
  return count
}

/** Whether a string or a name in a value holds half of a surrogate pair. */
function holdsHalves(value: JsonValue): boolean {
  if (typeof value === 'string') return !value.isWellFormed()
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(holdsHalves)
  return Object.entries(value).some(([name, member]) => !name.isWellFormed() || holdsHalves(member))
}

// ignoreBOM: keep the mark, so that it is the syntax error that it is in JSON.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decode(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/** Where a text stops being UTF-8, in bytes. */
function firstNotUtf8(bytes: Buffer): number {
  const lossy = bytes.toString('utf8')
  let offset = 0
  for (const char of lossy) {
    // A replacement character may also have been sent as such.
    if (char === '\ufffd' && bytes.toString('hex', offset, offset + 3) !== 'efbfbd') break
    offset += Buffer.byteLength(char)
  }
  return offset
}
