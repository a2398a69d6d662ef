import { assert, type Contract, CounterfoilError, type IdempotencyKey } from '../domain/index.ts'
import { type BodyReference, checkReference } from './body-reference.ts'
import type { BodyStore } from './body-store.ts'
import { encodeBody, hasMember } from './request-body.ts'
import { checkPath } from './request-path.ts'

/** Most headers of an effect, and the bytes of their names and values together. */
export const maxRequestHeaders = { count: 64, bytes: 8_192 } as const

/** The request of an effect as its `request` function gives it: fixed at planning, the same for every attempt. */
export interface EffectRequest<Stores extends string = never> {
  /** Such as `POST`. Written in capitals whatever is given. */
  readonly method: string
  /** Appended to the recipient's url: empty, or from `/` on, percent-encoded, with a query where one is wanted. */
  readonly path: string
  /** Neither credentials (the recipient's `headers` gives those) nor headers that Counterfoil writes. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * JSON, unless it is bytes (`Uint8Array`), a form (`URLSearchParams`), or text under a `content-type` that
   * is not JSON. Absent: no body.
   */
  readonly body?: unknown
  /** A body that is too large for the ledger, from one of the recipient's `bodies`; in place of `body`. */
  readonly bodyFrom?: BodyReference<Stores>
}

/** What is stored of it, and sent at every attempt. */
export interface StoredRequest {
  readonly method: string
  readonly path: string
  /** Lower-case names, sorted. */
  readonly headers: Readonly<Record<string, string>>
  /** Serialised once, at planning. */
  readonly body: Uint8Array | null
  /** In place of `body`, which is null then: where its bytes lie, and their digest. */
  readonly bodyFrom?: BodyReference
}

/** The second has no body after its head but a reference in it; a version that knows only the first refuses it. */
const formats = { whole: 'counterfoil-request/1', referenced: 'counterfoil-request/2' } as const

/**
 * The stored form: a line that names format and version, a line of JSON with method, path, headers and the
 * length of the body, or the reference to it; then the bytes of the body as they are. The same request always gives
 * the same bytes.
 *
 * @param recipient where it goes, so that its key and fence headers are refused here and not at the attempt
 * @param key needed where the contract puts the key into the body or the query: it is written here, once
 * @throws CounterfoilError `config_invalid` for method, path or headers, `effect_payload_invalid` for the body,
 *   `body_store_unknown` for a body from elsewhere
 */
export function encodeRequest(
  request: EffectRequest<string>,
  recipient?: { readonly contract: Contract; readonly bodies?: Readonly<Record<string, BodyStore>> },
  key?: IdempotencyKey,
): Uint8Array {
  const method = checkMethod(request.method)
  const { idempotency, ordering } = recipient?.contract ?? {}
  const path = withQueryKey(request.path, idempotency?.query, key)
  checkPath(path)
  const headers = checkHeaders(request.headers ?? {}, recipient?.contract)
  checkCondition(ordering?.conditional, request, headers)
  if (request.bodyFrom !== undefined) {
    if (request.body !== undefined) throw twoBodies()
    const reference = checkReference(request.bodyFrom, headers, recipient)
    return new Uint8Array(headOf(formats.referenced, { method, path, headers, body: reference }))
  }
  const member = idempotency?.pointer
  assert(member === undefined || key !== undefined, 'a key that stands in the body is known at planning')
  const body = encodeBody(
    request.body,
    headers,
    member === undefined ? undefined : { pointer: member, value: key! },
  )
  const text = headOf(formats.whole, { method, path, headers, body: body?.byteLength ?? null })
  return new Uint8Array(body === null ? text : Buffer.concat([text, body]))
}

function headOf(
  format: string,
  about: {
    readonly method: string
    readonly path: string
    readonly headers: ReadonlyMap<string, string>
    readonly body: number | BodyReference | null
  },
): Buffer {
  const { method, path, headers, body } = about
  const sorted = [...headers].sort(([a], [b]) => (a < b ? -1 : 1))
  return Buffer.from(
    `${format}\n${JSON.stringify({ method, path, headers: Object.fromEntries(sorted), body })}\n`,
  )
}

function twoBodies(): CounterfoilError {
  return new CounterfoilError(
    'config_invalid',
    'An effect request has both a body and a body from elsewhere.',
    {
      hint: 'Give body or bodyFrom.',
    },
  )
}

/**
 * Reads what `encodeRequest` wrote.
 *
 * @throws CounterfoilError `store_schema_newer` for a later format, `store_corrupt` when lengths disagree
 */
export function decodeRequest(bytes: Uint8Array): StoredRequest {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const first = buffer.indexOf('\n')
  const second = buffer.indexOf('\n', first + 1)
  const name = buffer.subarray(0, Math.max(first, 0)).toString('latin1')
  if (name !== formats.whole && name !== formats.referenced) {
    if (/^counterfoil-request\/\d{1,9}$/.test(name)) {
      throw new CounterfoilError('store_schema_newer', `A stored request has the format ${name}.`)
    }
    throw corrupt('has no format line')
  }
  if (second < 0) throw corrupt('ends in its head')
  const { method, path, headers, body } = parseHead(buffer.subarray(first + 1, second).toString())
  const rest = buffer.subarray(second + 1)
  if ((name === formats.referenced) !== isReference(body)) throw corrupt('has a body of another format')
  if (isReference(body)) {
    if (rest.byteLength > 0) throw corrupt('has a body beside the reference to it')
    return { method, path, headers, body: null, bodyFrom: body }
  }
  if (rest.byteLength !== (body ?? 0)) throw corrupt('has a body of another length than it says')
  // Plain bytes, and not copied: nobody else has them.
  const plain = () => new Uint8Array(rest.buffer, rest.byteOffset, rest.byteLength)
  return { method, path, headers, body: body === null ? null : plain() }
}

/** What stands in a head for the body: where it lies, and not its length. */
function isReference(body: BodyReference | number | null): body is BodyReference {
  return typeof body === 'object' && body !== null
}

function parseHead(
  text: string,
): Omit<StoredRequest, 'body'> & { readonly body: number | BodyReference | null } {
  try {
    const head = JSON.parse(text)
    const isHead =
      typeof head.method === 'string' && typeof head.path === 'string' && typeof head.headers === 'object'
    const { body } = head
    if (isHead && (body === null || Number.isSafeInteger(body) || typeof body?.sha256 === 'string'))
      return head
  } catch {
    // Told below, without quoting what is stored.
  }
  throw corrupt('has a broken head')
}

function corrupt(how: string): CounterfoilError {
  return new CounterfoilError('store_corrupt', `A stored request ${how}.`)
}

function withQueryKey(path: string, name: string | undefined, key: IdempotencyKey | undefined): string {
  if (name === undefined) return path
  assert(key !== undefined, 'a key that stands in the query is known at planning')
  const [location = '', query = ''] = path.split('?', 2)
  const parameters = query.split('&').filter((parameter) => parameter !== '')
  if (parameters.some((parameter) => parameter.split('=')[0] === name)) {
    throw new CounterfoilError(
      'config_invalid',
      `The query of an effect request holds '${name}', which Counterfoil writes.`,
      {
        hint: 'Leave it out; the contract says that the key goes there.',
      },
    )
  }
  return `${location}?${[...parameters, `${name}=${encodeURIComponent(key)}`].join('&')}`
}

/** Without its precondition a request would be repeated as if it had one. */
function checkCondition(
  conditional: NonNullable<Contract['ordering']>['conditional'],
  { body }: Pick<EffectRequest, 'body'>,
  headers: ReadonlyMap<string, string>,
): void {
  if (conditional === undefined) return
  const { header, pointer } = conditional
  const present = header === undefined ? hasMember(body, pointer) : headers.has(header.toLowerCase())
  if (present) return
  throw new CounterfoilError(
    'config_invalid',
    `An effect request lacks its precondition in '${header ?? pointer}'.`,
    {
      hint: "The contract calls repeats safe because of it: put it into the effect's request function.",
    },
  )
}

function checkMethod(method: string): string {
  const capitals = String(method).toUpperCase()
  // HEAD, CONNECT and TRACE do not carry out operations, and HTTP treats their answers in a way of its own.
  if (/^[A-Z][A-Z-]{0,31}$/.test(capitals) && !['HEAD', 'CONNECT', 'TRACE'].includes(capitals))
    return capitals
  throw new CounterfoilError(
    'config_invalid',
    'The method of an effect request is not one that operations have.',
    {
      hint: 'Use POST, PUT, PATCH or DELETE.',
    },
  )
}

/** Headers that describe the connection or the message on it (RFC 9110 sections 7.6 and 8.6), or that the engine writes. */
const written = new Set([
  ...['host', 'content-length', 'transfer-encoding', 'connection', 'keep-alive', 'proxy-connection'],
  ...['te', 'trailer', 'upgrade', 'expect', 'idempotency-key'],
])

const credential = /authorization$|^cookie2?$|api-?key|access-?key|auth-?key|token|secret|password|credential/

/** True for a header that frames the message and belongs to the network alone. */
export function isFramingHeader(name: string): boolean {
  return written.has(name) && name !== 'idempotency-key'
}

/** True for text that can stand as a header line without being read as two (RFC 9110 section 5.5). */
export function isHeader(name: string, value: unknown): value is string {
  return (
    /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(name) &&
    typeof value === 'string' &&
    /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
  )
}

function checkHeaders(
  given: Readonly<Record<string, string>>,
  contract: Contract | undefined,
): Map<string, string> {
  const headers = new Map<string, string>()
  const refuse = (name: string, why: string, hint: string): never => {
    throw new CounterfoilError(
      'config_invalid',
      `The header '${name.slice(0, 100)}' of an effect request ${why}.`,
      { hint },
    )
  }
  const { idempotency, ordering, times } = contract ?? {}
  const owned = [
    idempotency?.header,
    ordering?.fence?.header,
    ordering?.fence?.domain,
    times?.plannedAt,
    times?.begunAt,
  ].map((header) => header?.toLowerCase())
  let bytes = 0
  for (const [original, value] of Object.entries(given)) {
    const name = original.toLowerCase()
    if (!isHeader(name, value))
      refuse(
        original,
        'is not a valid header',
        'Names are tokens; values are one line of visible characters.',
      )
    if (written.has(name) || owned.includes(name)) {
      refuse(
        original,
        'is written by Counterfoil',
        'Leave it out; the contract says where key and version go.',
      )
    }
    if (credential.test(name)) {
      const hint =
        "Give it in the recipient's headers function: that is asked at each call and stored nowhere."
      refuse(original, 'looks like a credential, and the request of an effect is stored', hint)
    }
    if (headers.has(name)) refuse(original, 'is given twice', 'Join the values into one.')
    bytes += name.length + value.length
    headers.set(name, value)
  }
  if (headers.size > maxRequestHeaders.count || bytes > maxRequestHeaders.bytes) {
    const { count, bytes: most } = maxRequestHeaders
    throw new CounterfoilError(
      'config_invalid',
      `An effect request has more than ${count} headers or ${most} bytes of them.`,
    )
  }
  return headers
}
