import { CounterfoilError } from './errors.ts'
import type { JsonValue } from './json.ts'

/** Deeper values than this are refused: they did not come through `readJson`. */
const maxDepth = 1_000

/**
 * The canonical text of RFC 8785. Names are sorted by UTF-16 code units, numbers and strings are written as
 * ECMAScript writes them; a bigint, which the RFC does not know, is written as its digits.
 *
 * @param volatile JSON Pointers of members to leave out
 * @throws CounterfoilError `internal` on what JSON cannot hold: undefined, NaN, a lone surrogate, a cycle
 */
export function canonicalize(value: JsonValue, volatile: readonly string[] = []): string {
  return volatile.length === 0 ? write(value, 0) : writeWithout(value, volatile)
}

function write(value: JsonValue, depth: number): string {
  switch (typeof value) {
    case 'string':
      return writeString(value)
    case 'number':
      if (!Number.isFinite(value)) throw refused(String(value))
      return Object.is(value, -0) ? '0' : String(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'bigint':
      return value.toString()
    case 'object':
      break
    default:
      throw refused(typeof value)
  }
  if (value === null) return 'null'
  if (depth >= maxDepth) throw refused(`a value nested more than ${maxDepth} levels deep`)
  if (Array.isArray(value)) {
    let text = '['
    for (let index = 0; index < value.length; index++) {
      if (index > 0) text += ','
      text += write(value[index] as JsonValue, depth + 1)
    }
    return `${text}]`
  }
  const members = value as { readonly [name: string]: JsonValue }
  let text = '{'
  // The default order of sort() is that of UTF-16 code units, as RFC 8785 section 3.2.3 asks.
  for (const name of Object.keys(members).sort()) {
    if (text.length > 1) text += ','
    text += `${writeString(name)}:${write(members[name] as JsonValue, depth + 1)}`
  }
  return `${text}}`
}

function writeString(text: string): string {
  if (!text.isWellFormed()) throw refused('half of a surrogate pair')
  return JSON.stringify(text)
}

function writeWithout(value: JsonValue, volatile: readonly string[]): string {
  let left = value
  for (const pointer of volatile) left = without(left, pointer.split('/').slice(1))
  return write(left, 0)
}

function without(value: JsonValue, path: readonly string[]): JsonValue {
  const [token, ...rest] = path
  if (token === undefined || typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const name = token.replaceAll('~1', '/').replaceAll('~0', '~')
  if (!Object.hasOwn(value, name)) return value
  const { [name]: member, ...others } = value as { readonly [name: string]: JsonValue }
  return rest.length === 0 ? others : { ...others, [name]: without(member as JsonValue, rest) }
}

function refused(what: string): CounterfoilError {
  return new CounterfoilError('internal', `The canonical form cannot hold ${what}.`)
}
