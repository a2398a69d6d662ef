import {
  assert,
  type Clock,
  type Contract,
  CounterfoilError,
  codeOf,
  type Exchange,
  type IdempotencyKey,
  type Instant,
  type Limits,
  type Outcome,
  takesOrder,
} from '../domain/index.ts'
import { type BodyReference, storeNamed } from './body-reference.ts'
import type { BodyStore } from './body-store.ts'
import { late, within } from './deadline.ts'
import type { Network, NetworkRequest, StreamedBody } from './network.ts'
import { readThrough, referencedBody } from './referenced-body.ts'
import { targetUrl } from './request-path.ts'
import { isFramingHeader, isHeader, type StoredRequest } from './stored-request.ts'

export { decodeRequest, type EffectRequest, encodeRequest, type StoredRequest } from './stored-request.ts'

/** Largest answer that is read, in bytes. Answers are evidence, not downloads. */
export const maxAnswerBytes = 1024 * 1024

/** The far side of an effect, as far as requests need it. */
export interface HttpRecipient {
  readonly name: string
  readonly url: URL
  readonly contract: Contract
  /** Milliseconds from the start of an attempt to the last byte of its answer. */
  readonly timeoutMs: number
  /** Credentials, asked for at each call and stored nowhere. What waits for them counts against the time-out. */
  readonly headers?: HeadersFunction
  readonly allowPrivateAddresses: boolean
  /** Where bodies lie that effects send by reference, by name. */
  readonly bodies?: Readonly<Record<string, BodyStore>>
  /** Attempts in flight at once. */
  readonly concurrency: number
  /** Of all processes together. */
  readonly limits?: Limits
  /** While it gives true nothing is sent and no attempt is begun; its effects wait. Asked often. */
  readonly isOff?: () => boolean
  /** Hears how each attempt ended, and may say more of it than the contract does: how long to wait, whom to tell. */
  readonly heard?: (outcome: Outcome, attempt: number) => Outcome
}

export type HeadersFunction = (
  about: HeadersAbout,
) => Record<string, string> | Promise<Record<string, string>>

export interface HeadersAbout {
  /** Aborted when the time-out of the call has passed, or when the process stops. */
  readonly signal: AbortSignal
  /** What the headers are for, so that they can sign it: its bytes are the stored ones, the same at every attempt. */
  readonly request: {
    readonly method: string
    readonly path: string
    readonly body: Uint8Array | null
    /** In place of `body`, which is null then: where it lies, with its length and digest. */
    readonly bodyFrom?: BodyReference
    /** Those that Counterfoil adds at the attempt, in lower case: the key, a version, times. */
    readonly headers: Readonly<Record<string, string>>
  }
}

export interface HttpPorts {
  readonly network: Pick<Network, 'send'>
  readonly clock: Clock
}

/** A place in an ordering domain; the version is sent, and the domain where the contract names a header for it. */
export interface Order {
  readonly domain: string
  readonly version: number | bigint | string
}

/** What a recipient may want to be told of an attempt (`contract.times`). */
export interface AttemptTimes {
  readonly plannedAt: Instant
  readonly begunAt: Instant
}

/**
 * One attempt: the stored bytes under the stored key. Never rejects: what keeps it from being sent, such as
 * a headers function that throws, is told as `notSent`, and the effect stays planned.
 */
export async function attempt(
  ports: HttpPorts,
  recipient: HttpRecipient,
  stored: StoredRequest,
  key: IdempotencyKey,
  order: Order | null,
  signal: AbortSignal,
  about?: AttemptTimes,
): Promise<Exchange> {
  const { idempotency, ordering, times } = recipient.contract
  const own: Record<string, string> = {}
  if (idempotency?.header !== undefined) own[idempotency.header.toLowerCase()] = key
  for (const what of ['plannedAt', 'begunAt'] as const) {
    const name = times?.[what]?.toLowerCase()
    if (name !== undefined && about !== undefined) own[name] = new Date(about[what]).toISOString()
  }
  return await send(ports, recipient, signal, () => {
    if (order !== null) {
      // Its contract has changed since planning; without the fence the order would silently be lost.
      if (!takesOrder(recipient.contract))
        throw new CounterfoilError(
          'order_without_fence',
          `recipient '${recipient.name}' compares no versions`,
        )
      const { header, domain } = ordering?.fence ?? {}
      if (header !== undefined) own[header.toLowerCase()] = String(order.version)
      if (domain !== undefined) own[domain.toLowerCase()] = headerText(order.domain)
    }
    return { ...stored, headers: { ...stored.headers, ...own } }
  })
}

/** Asks what became of a key, where the contract offers a lookup. Never rejects, like `attempt`. */
export async function lookup(
  ports: HttpPorts,
  recipient: HttpRecipient,
  about: { readonly key: IdempotencyKey; readonly correlation: string | null },
  signal: AbortSignal,
): Promise<Exchange> {
  const asked = recipient.contract.lookup
  assert(asked?.path !== undefined, `recipient '${recipient.name}' offers no lookup by path`)
  const { path } = asked
  return await send(ports, recipient, signal, () => ({
    method: 'GET',
    path: filled(path, about),
    body: null,
  }))
}

/** Asks the recipient to close a key for ever. Never rejects, like `attempt`. */
export async function tombstone(
  ports: HttpPorts,
  recipient: HttpRecipient,
  key: IdempotencyKey,
  signal: AbortSignal,
): Promise<Exchange> {
  const asked = recipient.contract.ordering?.tombstone
  assert(asked !== undefined, `recipient '${recipient.name}' takes no tombstones`)
  const { method, path } = asked
  return await send(ports, recipient, signal, () => ({
    method,
    path: filled(path, { key, correlation: null }),
    body: null,
  }))
}

/** Visible ASCII as it is, anything else percent-encoded: two domains never look the same. */
function headerText(domain: string): string {
  return domain.toWellFormed().replaceAll(/[^\x21-\x24\x26-\x7e]/gu, encodeURIComponent)
}

function filled(path: string, about: { readonly key: string; readonly correlation: string | null }): string {
  return path
    .replaceAll('{key}', () => encodeURIComponent(about.key))
    .replaceAll('{correlation}', () => encodeURIComponent(about.correlation ?? ''))
}

interface Message {
  readonly method: string
  readonly path: string
  readonly body: Uint8Array | null
  readonly bodyFrom?: BodyReference
  /** Laid over the credentials and the defaults. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Our own refusals happen before anything is sent; anything else is a fault of this program and thrown. */
async function send(
  { network, clock }: HttpPorts,
  recipient: HttpRecipient,
  signal: AbortSignal,
  message: () => Message,
): Promise<Exchange> {
  const { timeoutMs, allowPrivateAddresses } = recipient
  const startedAt = clock.now()
  const leftMs = () => Math.max(1, timeoutMs - (clock.now() - startedAt))
  /** Of a body from elsewhere: nobody reads on when the exchange is over. */
  let reading: AbortController | undefined
  try {
    const { method, path, body, bodyFrom, headers } = message()
    const url = targetUrl(recipient.url, path)
    const credentials =
      recipient.headers === undefined
        ? undefined
        : await credentialsOf(recipient, recipient.headers, clock, signal, {
            ...{ method, path, body, headers: headers ?? {} },
            ...(bodyFrom === undefined ? {} : { bodyFrom }),
          })
    const request: NetworkRequest = {
      url,
      method,
      body,
      headers: { ...defaults, ...credentials, ...headers },
      timeoutMs: leftMs(),
      maxAnswerBytes,
      allowPrivateAddresses,
    }
    if (bodyFrom === undefined) return await network.send(request, signal)
    reading = new AbortController()
    const stop = AbortSignal.any([signal, reading.signal])
    const bodyStream = await streamed(clock, recipient, bodyFrom, leftMs(), stop)
    return await network.send({ ...request, bodyStream, timeoutMs: leftMs() }, signal)
  } catch (error) {
    const code = codeOf(error)
    if (!(error instanceof CounterfoilError) || code === 'internal') throw error
    return { kind: 'notSent', why: `${code}: ${error.message}` }
  } finally {
    // With a reason: without one an error is made each time, stack and all, that nobody looks at.
    reading?.abort('the exchange is over')
  }
}

/**
 * Reads the body once before anything is sent, so that bytes which were changed, cut or lost leave no outcome open; and
 * again while it goes out, when they can still be found to be others, and the request is then never whole.
 */
async function streamed(
  clock: Clock,
  { bodies }: HttpRecipient,
  reference: BodyReference,
  ms: number,
  stop: AbortSignal,
): Promise<StreamedBody> {
  const store = storeNamed(bodies, reference.store)
  if (store.immutable !== true) {
    try {
      await within(clock, ms, stop, (signal) => readThrough(reference, store, signal))
    } catch (error) {
      if (error !== late) throw error
      throw new CounterfoilError(
        'body_unreadable',
        `The store of bodies '${reference.store}' was not read in time.`,
      )
    }
  }
  return { length: reference.length, chunks: referencedBody(reference, store, stop) }
}

/** `identity`: contracts read members of answers, and nothing here unpacks them. */
const defaults = { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'counterfoil' }

async function credentialsOf(
  recipient: HttpRecipient,
  asked: HeadersFunction,
  clock: Clock,
  stop: AbortSignal,
  request: HeadersAbout['request'],
): Promise<Record<string, string>> {
  const refuse = (why: string): never => {
    throw new CounterfoilError(
      'config_invalid',
      `the headers function of recipient '${recipient.name}' ${why}`,
    )
  }
  let given: unknown
  try {
    given = await within(clock, recipient.timeoutMs, stop, async (signal) => asked({ signal, request }))
  } catch (error) {
    // Its message may quote the credential.
    refuse(
      error === late ? 'gave nothing in time' : `threw ${error instanceof Error ? error.name : 'something'}`,
    )
  }
  if (typeof given !== 'object' || given === null) refuse('gave no object of headers')
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(given as object)) {
    if (!isHeader(name, value)) refuse(`gave a header that is not valid: '${name.slice(0, 100)}'`)
    if (isFramingHeader(name.toLowerCase())) refuse(`gave '${name}', which frames the message`)
    headers[name.toLowerCase()] = value as string
  }
  return headers
}
