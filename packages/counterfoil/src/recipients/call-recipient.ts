import {
  type Clock,
  type Contract,
  CounterfoilError,
  classify,
  type EffectKey,
  type Exchange,
  type IdempotencyKey,
  type Instant,
  type Limits,
  type LookupFinding,
  type Outcome,
  type TombstoneFinding,
} from '../domain/index.ts'
import { late, within } from './deadline.ts'
import { nameOf } from './error-name.ts'
import type { Order } from './http-recipient.ts'
import { onceFetch } from './once-fetch.ts'
import { toJson } from './request-body.ts'

/** Thrown by a `call` function as proof that nothing was sent: the effect stays planned and is attempted again. */
export class NotSent extends Error {
  override readonly name = 'NotSent'
}

/** What a `call` function is given beside the request. */
export interface CallContext {
  /** The same at every attempt of one effect. Hand it to the vendor's SDK: there is no other. */
  readonly idempotencyKey: IdempotencyKey
  readonly effectKey: EffectKey
  readonly order: Order | null
  /** From 1. */
  readonly attempt: number
  /** Aborts at the deadline, and when the process stops. */
  readonly signal: AbortSignal
  /** When the answer no longer counts as this attempt's, in milliseconds since the Unix epoch. */
  readonly deadline: Instant
  /** For SDKs that take a `fetch`: lets one request out that can act, and stops the SDK's own retry of it. */
  readonly fetch: typeof fetch
}

/** What a lookup or tombstone function of the program is given. */
export interface AskContext {
  readonly idempotencyKey: IdempotencyKey
  readonly effectKey: EffectKey
  /** The recipient's own id of the operation, where an answer carried one. */
  readonly correlation: string | null
  readonly signal: AbortSignal
  readonly deadline: Instant
}

/** What a call came to. */
export type CallResult = { readonly answer: unknown } | { readonly error: unknown }

/** What a `classify` function makes of it: a kind alone, or with what is known besides. */
export type CallReading =
  | Outcome['kind']
  | 'accepted'
  | {
      readonly kind: Outcome['kind'] | 'accepted'
      readonly why?: string
      readonly correlation?: string
      readonly retryAfterMs?: number
    }

/** What a lookup function of the program found. */
export type LookupReading = LookupFinding['kind'] | Omit<LookupFinding, 'status'>
/** What a tombstone function of the program was told. */
export type TombstoneReading = TombstoneFinding['kind'] | Omit<TombstoneFinding, 'status'>

/** The far side of an effect as a function of this program: a vendor's SDK, a database, a queue. */
export interface CallRecipient {
  readonly name: string
  readonly contract: Contract
  readonly timeoutMs: number
  readonly concurrency: number
  /** Of all processes together. */
  readonly limits?: Limits
  readonly call: (request: never, context: CallContext) => Promise<unknown>
  readonly classify?: (result: CallResult) => CallReading | undefined
}

/** One outcome now; and when the call ends only after its deadline, what it then turns out to have been. */
export interface Called {
  readonly outcome: Outcome
  readonly late?: Promise<Outcome>
}

const format = 'counterfoil-call/1\n'

/** The stored form of a call's request: its JSON, the same for every attempt. */
export function encodeCall(request: unknown): Uint8Array {
  return new Uint8Array(Buffer.from(format + toJson(request)))
}

/** @throws CounterfoilError `store_corrupt` when it was not stored for a call */
export function decodeCall(bytes: Uint8Array): unknown {
  const text = Buffer.from(bytes).toString()
  if (!text.startsWith(format))
    throw new CounterfoilError(
      'store_corrupt',
      'A stored request was not made for a function of this program.',
    )
  return JSON.parse(text.slice(format.length))
}

/**
 * One attempt. Never rejects. Unless the recipient's `classify` reads it, an answer confirms; an error with an HTTP
 * status is read by the contract like an HTTP answer; any other error leaves it unknown, for it may have been sent.
 */
export async function call(
  clock: Clock,
  recipient: CallRecipient,
  request: unknown,
  about: Pick<CallContext, 'idempotencyKey' | 'effectKey' | 'order' | 'attempt'>,
  stop: AbortSignal,
): Promise<Called> {
  const deadline = clock.now() + recipient.timeoutMs
  const once = onceFetch()
  let ended: Promise<Outcome> | undefined
  const begin = (signal: AbortSignal): Promise<Outcome> => {
    // In a promise, so that a function that throws at once is read like one that rejects.
    const result = (async () =>
      await recipient.call(request as never, { ...about, signal, deadline, fetch: once.fetch }))()
    ended = result
      .then(
        async (answer): Promise<CallResult> => ({ answer }),
        (error: unknown): CallResult => ({ error }),
      )
      .then(async (read) => await outcomeOf(recipient, read, clock.now()))
      .then((outcome) => once.correct(outcome))
    return ended
  }
  try {
    return { outcome: await within(clock, recipient.timeoutMs, stop, begin) }
  } catch (error) {
    if (error !== late || ended === undefined) throw error
    const why = stop.aborted
      ? 'it was stopped before the call ended'
      : `the call did not end within ${recipient.timeoutMs} ms`
    return { outcome: { kind: 'unknown', why }, late: ended }
  }
}

async function outcomeOf(recipient: CallRecipient, result: CallResult, now: Instant): Promise<Outcome> {
  const { contract } = recipient
  if ('error' in result && result.error instanceof NotSent) {
    return { kind: 'notActed', why: `nothing was sent: ${result.error.message.slice(0, 200)}` }
  }
  let reading: CallReading | undefined
  try {
    reading = recipient.classify?.(result)
  } catch (error) {
    return { kind: 'unknown', why: `the classify function threw ${nameOf(error)}` }
  }
  if (reading === undefined) return classify(contract, await toExchange(result), now)
  const { kind, why, ...about } = typeof reading === 'string' ? { kind: reading } : reading
  const said = why ?? `classified as ${kind}`
  if (kind === 'accepted') return { kind: 'unknown', accepted: true, why: said, ...about }
  return { kind, why: said, ...about }
}

/** A call's end as an HTTP answer, so that one table of outcomes, the contract's, reads both. */
async function toExchange(result: CallResult): Promise<Exchange> {
  if ('answer' in result) {
    const { answer } = result
    if (answer instanceof Response) {
      const body = new Uint8Array(await answer.arrayBuffer())
      return { kind: 'answered', status: answer.status, headers: Object.fromEntries(answer.headers), body }
    }
    return answered(statusOf(answer) ?? 200, headersOf(answer), answer)
  }
  const { error } = result
  const status = statusOf(error)
  // Its message may quote what was sent.
  if (status === undefined) return { kind: 'unclear', why: `the call failed with ${nameOf(error)}` }
  const { body, raw, error: inner, name, code, type } = error as Record<string, unknown>
  return answered(status, headersOf(error), body ?? raw ?? inner ?? { name, code, type })
}

function answered(status: number, headers: Record<string, string>, body: unknown): Exchange {
  let text = ''
  try {
    text = typeof body === 'string' ? body : (JSON.stringify(body) ?? '')
  } catch {
    // What JSON cannot carry has no members to read.
  }
  return { kind: 'answered', status, headers, body: new Uint8Array(Buffer.from(text)) }
}

/** Where SDKs keep the HTTP status: `status`, `statusCode`, `response.status`, and AWS's `$metadata.httpStatusCode`. */
function statusOf(value: unknown): number | undefined {
  const at = membersOf(value)
  const found = [
    at.status,
    at.statusCode,
    membersOf(at.response).status,
    membersOf(at.$metadata).httpStatusCode,
  ]
  return found.find(
    (status): status is number => typeof status === 'number' && status >= 100 && status <= 599,
  )
}

function headersOf(value: unknown): Record<string, string> {
  const at = membersOf(value)
  const found = at.headers ?? membersOf(at.response).headers
  const entries = found instanceof Headers ? [...found] : Object.entries(membersOf(found))
  return Object.fromEntries(
    entries.flatMap(([name, text]) => (typeof text === 'string' ? [[name.toLowerCase(), text]] : [])),
  )
}

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
