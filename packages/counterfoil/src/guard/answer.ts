import { CounterfoilError } from '../domain/index.ts'

/** What a handler answers: a body as it is, or a JSON value. */
export type Answer = {
  /** 200 to 599. */
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
} & ({ readonly body?: string | Uint8Array | null; readonly json?: never } | { readonly json: unknown })

/** An answer as it is kept and sent, the first time and every time after. Lower-case names, sorted. */
export interface StoredAnswer {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Uint8Array
}

/** Frames a message or belongs to one connection (RFC 9110 section 7.6.1), or is a credential: never stored. */
const notStored = new Set([
  ...['connection', 'content-length', 'date', 'keep-alive', 'proxy-authenticate', 'proxy-connection'],
  ...['set-cookie', 'trailer', 'transfer-encoding', 'upgrade'],
])

/**
 * Fixes an answer to its bytes.
 *
 * @throws CounterfoilError `guard_answer_unfit`
 */
export function toStored(answer: Answer, maxBytes: number): StoredAnswer {
  const { status, headers = {} } = (answer ?? {}) as Answer
  if (!Number.isInteger(status) || status < 200 || status > 599) throw unfit('has no status from 200 to 599')
  const kept = new Map<string, string>()
  for (const [name, value] of Object.entries(headers)) {
    if (!isHeader(name, value)) throw unfit(`has a header that is not valid: '${name.slice(0, 100)}'`)
    if (!notStored.has(name.toLowerCase())) kept.set(name.toLowerCase(), value)
  }
  const body = toBytes(answer, kept)
  if (body.byteLength > maxBytes) throw unfit(`is larger than ${maxBytes} bytes`)
  if (body.byteLength > 0 && (status === 204 || status === 304)) throw unfit(`has a body with a ${status}`)
  return { status, headers: [...kept].sort(([a], [b]) => (a < b ? -1 : 1)), body }
}

/** The same for a Fetch response, whose body is read to its end. */
export async function fromResponse(response: Response): Promise<Answer> {
  const body = new Uint8Array(await response.arrayBuffer())
  return { status: response.status, headers: Object.fromEntries(response.headers), body }
}

/** A stored answer as a Fetch `Response`. */
export function toResponse({ status, headers, body }: StoredAnswer): Response {
  const empty = status === 204 || status === 304
  return new Response(empty ? null : (body as Uint8Array<ArrayBuffer>), {
    status,
    headers: headers.map(([n, v]) => [n, v]),
  })
}

export function withHeader(answer: StoredAnswer, name: string, value: string): StoredAnswer {
  return { ...answer, headers: [...answer.headers, [name, value]] }
}

function toBytes(answer: Answer, headers: Map<string, string>): Uint8Array {
  if ('json' in answer && answer.json !== undefined) {
    if (!headers.has('content-type')) headers.set('content-type', 'application/json')
    return Buffer.from(toJson(answer.json))
  }
  const { body } = answer as { body?: unknown }
  if (body === undefined || body === null) return new Uint8Array(0)
  if (typeof body === 'string') {
    if (!headers.has('content-type')) headers.set('content-type', 'text/plain; charset=utf-8')
    return Buffer.from(body)
  }
  if (body instanceof Uint8Array) return body
  throw unfit('has a body that is neither text nor bytes')
}

function toJson(value: unknown): string {
  try {
    const text = JSON.stringify(value)
    if (text !== undefined) return text
  } catch {
    // Told below.
  }
  throw unfit('holds a value that JSON cannot carry')
}

function isHeader(name: string, value: unknown): value is string {
  return (
    /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(name) &&
    typeof value === 'string' &&
    /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
  )
}

function unfit(how: string): CounterfoilError {
  return new CounterfoilError('guard_answer_unfit', `The answer of a guarded handler ${how}.`, {
    hint: 'All was undone. Return { status, headers, json } or { status, headers, body }.',
  })
}
