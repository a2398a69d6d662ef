import { CounterfoilError, isPointer, readPointer } from '../domain/index.ts'

/** Longest body of an effect, in bytes. Larger things are handed over by reference. */
export const maxRequestBodyBytes = 8 * 1024 * 1024

/** A member that Counterfoil writes into a body: the idempotency key. */
export interface WrittenMember {
  readonly pointer: string
  readonly value: string
}

/**
 * Serialises a body once, adding the content type to `headers` where none is given, and `written` where the contract
 * wants the key in the body.
 *
 * @throws CounterfoilError `effect_payload_invalid`; `config_invalid` when the body has no place for the key
 */
export function encodeBody(
  given: unknown,
  headers: Map<string, string>,
  written?: WrittenMember,
): Uint8Array | null {
  const body = written === undefined ? given : withMember(given, written)
  if (body === undefined) return null
  const declared = headers.get('content-type')
  const describe = (type: string) => {
    if (declared === undefined) headers.set('content-type', type)
  }
  const bytes = ((): Uint8Array => {
    if (body instanceof Uint8Array) {
      describe('application/octet-stream')
      return body
    }
    if (body instanceof URLSearchParams) {
      describe('application/x-www-form-urlencoded')
      return Buffer.from(body.toString())
    }
    if (typeof body === 'string' && declared !== undefined && !/^[^;]*[/+]json\s*(;|$)/i.test(declared))
      return Buffer.from(body)
    describe('application/json')
    return Buffer.from(toJson(body))
  })()
  if (bytes.byteLength > maxRequestBodyBytes) {
    throw new CounterfoilError(
      'effect_payload_invalid',
      `The body of an effect is larger than ${maxRequestBodyBytes} bytes.`,
      {
        hint: 'Store it elsewhere and send a reference.',
      },
    )
  }
  return bytes
}

/** @throws CounterfoilError `effect_payload_invalid` */
export function toJson(value: unknown): string {
  const refuse = (what: string, cause?: unknown): never => {
    throw new CounterfoilError('effect_payload_invalid', `The body of an effect holds ${what}.`, {
      hint: 'Give plain JSON values; write large or exact numbers as text.',
      cause,
    })
  }
  let text: string | undefined
  try {
    // JSON.stringify would quietly write null for a number that is none.
    text = JSON.stringify(value, (_, member) =>
      typeof member === 'number' && !Number.isFinite(member) ? refuse(`the number ${member}`) : member,
    )
  } catch (error) {
    if (error instanceof CounterfoilError) throw error
    refuse('a value that JSON cannot carry', error)
  }
  return text ?? refuse('a value that JSON cannot carry')
}

/** True when the body, JSON or form, has a member at this pointer. */
export function hasMember(body: unknown, pointer: string): boolean {
  if (body instanceof URLSearchParams) return body.has(tokensOf(pointer)[0] ?? '')
  return (
    body !== undefined &&
    !(body instanceof Uint8Array) &&
    readPointer(JSON.parse(toJson(body)), pointer) !== undefined
  )
}

function withMember(body: unknown, { pointer, value }: WrittenMember): unknown {
  const refuse = (why: string, hint: string): never => {
    throw new CounterfoilError('config_invalid', `The body of an effect ${why} '${pointer}'.`, { hint })
  }
  const tokens = tokensOf(pointer)
  const last = tokens.at(-1) ?? ''
  const twice = 'Leave it out; the contract says that the key goes there.'
  if (body instanceof URLSearchParams) {
    if (tokens.length !== 1) refuse('is a form, which has no place for', 'Send JSON.')
    if (body.has(last)) refuse('already holds', twice)
    const form = new URLSearchParams(body)
    form.set(last, value)
    return form
  }
  if (typeof body !== 'object' || body === null || body instanceof Uint8Array)
    refuse(
      'is no JSON object and has no place for',
      'The contract puts the key into the body: give an object.',
    )
  const root: unknown = JSON.parse(toJson(body))
  let at = root
  for (const token of tokens.slice(0, -1)) {
    if (!isObject(at)) refuse('has no place for', 'Give objects on the way to it.')
    const parent = at as Record<string, unknown>
    if (!Object.hasOwn(parent, token)) parent[token] = {}
    at = parent[token]
  }
  if (!isObject(at)) refuse('has no place for', 'Give objects on the way to it.')
  const parent = at as Record<string, unknown>
  if (Object.hasOwn(parent, last)) refuse('already holds', twice)
  parent[last] = value
  return root
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function tokensOf(pointer: string): string[] {
  if (!isPointer(pointer)) return []
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}
