import { assert, CounterfoilError } from './errors.ts'
import { type JsonValue, maxJsonDepth } from './json.ts'
import { isPointer } from './json-pointer.ts'
import { MemberOrders, opening } from './member-order.ts'

/**
 * The canonical text of RFC 8785. Names are sorted by UTF-16 code units, numbers and strings are written as
 * ECMAScript writes them; a bigint, which the RFC does not know, is written as its digits.
 *
 * @param volatile JSON Pointers of members to leave out, such as Stripe's `/pending_webhooks`
 * @throws CounterfoilError `internal` on what JSON cannot hold, and says where it is: undefined, NaN, a lone
 *   surrogate, a Date or another class's object, a cycle or more than 1000 levels
 */
export function canonicalize(value: JsonValue, volatile: readonly string[] = []): string {
  try {
    return write(value, 0, volatile.length === 0 ? undefined : omissions(volatile))
  } catch (error) {
    if (!(error instanceof Unfit)) throw error
    const pointer = error.path.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
    throw new CounterfoilError(
      'internal',
      `The canonical form cannot hold ${error.what}, found at '${pointer.slice(0, 200).toWellFormed()}'.`,
      { hint: 'JSON holds null, booleans, finite numbers, text, arrays and plain objects.' },
    )
  }
}

/** Names to leave out; `undefined` ends a path. */
interface Omissions extends Map<string, Omissions | undefined> {}

const orders = new MemberOrders()

function write(value: JsonValue, depth: number, omitted: Omissions | undefined): string {
  switch (typeof value) {
    case 'string':
      if (!value.isWellFormed()) throw new Unfit('half of a surrogate pair')
      return JSON.stringify(value)
    case 'number':
      if (!Number.isFinite(value)) throw new Unfit(String(value))
      // Also writes -0 as 0.
      return String(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'bigint':
      return value.toString()
    case 'object':
      break
    default:
      throw new Unfit(typeof value)
  }
  if (value === null) return 'null'
  if (depth >= maxJsonDepth) throw new Unfit(`more than ${maxJsonDepth} levels`)
  if (omitted !== undefined) return writeWithout(value, depth, omitted)
  return isArray(value) ? writeArray(value, depth) : writeObject(value, depth)
}

function writeArray(elements: readonly JsonValue[], depth: number): string {
  let index = 0
  try {
    let text = '['
    for (; index < elements.length; index++) {
      if (index > 0) text += ','
      text += write(elements[index] as JsonValue, depth + 1, undefined)
    }
    return `${text}]`
  } catch (error) {
    throw within(error, String(index))
  }
}

function writeObject(members: Members, depth: number): string {
  const keys = namesOf(members)
  if (keys.length === 0) return '{}'
  const { names, openings } = orders.of(keys)
  let index = 0
  try {
    let text = ''
    for (; index < names.length; index++) {
      const name = names[index]!
      text += openings === undefined ? opening(name, index) : openings[index]!
      text += write(members[name] as JsonValue, depth + 1, undefined)
    }
    return `${text}}`
  } catch (error) {
    throw within(error, names[index]!)
  }
}

/** Both kinds in one, for the few values that volatile members lie in. An element is left out like a member. */
function writeWithout(value: Members | readonly JsonValue[], depth: number, omitted: Omissions): string {
  const members = value as Members
  const names = isArray(value) ? [...value.keys()].map(String) : namesOf(members).toSorted()
  const written: string[] = []
  for (const name of names) {
    const deeper = omitted.get(name)
    if (deeper === undefined && omitted.has(name)) continue
    try {
      const text = write(members[name] as JsonValue, depth + 1, deeper)
      written.push(isArray(value) ? text : `${JSON.stringify(name)}:${text}`)
    } catch (error) {
      throw within(error, name)
    }
  }
  return isArray(value) ? `[${written.join()}]` : `{${written.join()}}`
}

type Members = { readonly [name: string]: JsonValue }

/** Refuses a Date, a Map and the like: their state is not in their members, so different ones would look the same. */
function namesOf(members: Members): readonly string[] {
  const prototype: unknown = Object.getPrototypeOf(members)
  // A plain object of another realm has that realm's Object.prototype, which has none itself.
  if (prototype !== Object.prototype && prototype !== null && Object.getPrototypeOf(prototype) !== null)
    throw new Unfit('an object of a class')
  const names = Object.keys(members)
  for (const name of names) if (!name.isWellFormed()) throw new Unfit('half of a surrogate pair in a name')
  return names
}

function omissions(pointers: readonly string[]): Omissions {
  const root: Omissions = new Map()
  for (const pointer of pointers) {
    assert(pointer !== '' && isPointer(pointer), `'${pointer}' is no JSON Pointer to a member`)
    const names = pointer
      .slice(1)
      .split('/')
      .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    const last = names.pop()!
    let at: Omissions | undefined = root
    for (const name of names) {
      const deeper: Omissions | undefined = at.get(name) ?? (at.has(name) ? undefined : new Map())
      if (deeper !== undefined) at.set(name, deeper)
      at = deeper
      // All of it is left out already.
      if (at === undefined) break
    }
    at?.set(last, undefined)
  }
  return root
}

/** `Array.isArray` does not narrow readonly arrays. */
function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value)
}

class Unfit extends Error {
  readonly path: string[] = []
  readonly what: string

  constructor(what: string) {
    super(what)
    this.what = what
  }
}

function within(error: unknown, name: string): unknown {
  if (error instanceof Unfit) error.path.unshift(name)
  return error
}
