import type { AnswerPattern, Contract } from './contract.ts'
import { readPointer } from './json-pointer.ts'

/** What the network saw of one request. The network port reports; nothing here decides. */
export type Exchange =
  /** A complete answer. `headers` has lower-case names. */
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: Uint8Array
    }
  /** Proof that no byte of the request reached the recipient: DNS, refused connection, TLS, or ended before sending. */
  | { readonly kind: 'notSent'; readonly why: string }
  /** At least one byte may have gone out and no complete answer came back: time-out, reset, torn body. */
  | { readonly kind: 'unclear'; readonly why: string }

/** What one attempt's answer proves (design.md section 3). */
export type Outcome = {
  readonly kind: 'confirmed' | 'refused' | 'fenced' | 'notActed' | 'unknown'
  /** One plain clause: why it was read so. */
  readonly why: string
  readonly status?: number
  /** How long the recipient asked to be left alone, bounded. */
  readonly retryAfterMs?: number
  /** The recipient's own id of the operation. */
  readonly correlation?: string
}

/** What one lookup proves. Absence is final only by the contract, which the policy decides. */
export type LookupFinding = {
  readonly kind: 'acted' | 'refused' | 'absent' | 'nothing'
  readonly why: string
  readonly status?: number
  readonly correlation?: string
}

/** Longest `Retry-After` that is honoured: one hour. A longer one would hide work from its owner. */
export const maxRetryAfterMs = 3_600_000

/** Reads an attempt's exchange by the contract. Pure. Default rules: design.md section 3, Contracts. */
export function classify(contract: Contract, exchange: Exchange, now: number): Outcome {
  if (exchange.kind === 'notSent') return { kind: 'notActed', why: `nothing was sent: ${exchange.why}` }
  if (exchange.kind === 'unclear') return { kind: 'unknown', why: exchange.why }
  const { status } = exchange
  const about = {
    status,
    ...optional('retryAfterMs', retryAfterMs(exchange.headers['retry-after'], now)),
    ...optional('correlation', correlationOf(contract, exchange)),
  }
  const rule = contract.outcomes?.find((candidate) => matches(candidate, exchange))
  if (rule !== undefined) {
    return {
      kind: rule.means === 'not-acted' ? 'notActed' : rule.means,
      why: `the contract reads ${status} so`,
      ...about,
    }
  }
  if (contract.outcomes?.some((candidate) => dependsOnBody(candidate, exchange))) {
    return {
      kind: 'unknown',
      why: `answered ${status} with a body that the contract reads and is no JSON`,
      ...about,
    }
  }
  if (status === contract.ordering?.fence.rejectedWith) {
    return { kind: 'fenced', why: `answered ${status}: a newer version is already there`, ...about }
  }
  if (status >= 200 && status < 300) return { kind: 'confirmed', why: `answered ${status}`, ...about }
  if (status >= 400 && status < 500 && ![408, 409, 425, 429].includes(status)) {
    return { kind: 'refused', why: `answered ${status}`, ...about }
  }
  return { kind: 'unknown', why: `answered ${status}, which proves nothing by this contract`, ...about }
}

/** Reads a lookup's exchange by the contract. Pure. */
export function classifyLookup(contract: Contract, exchange: Exchange): LookupFinding {
  if (exchange.kind !== 'answered') return { kind: 'nothing', why: exchange.why }
  const { status } = exchange
  const about = { status, ...optional('correlation', correlationOf(contract, exchange)) }
  const rule = contract.lookup?.answers?.find((candidate) => matches(candidate, exchange))
  if (rule !== undefined) return { kind: rule.means, why: `the contract reads ${status} so`, ...about }
  if (contract.lookup?.answers?.some((candidate) => dependsOnBody(candidate, exchange))) {
    return { kind: 'nothing', why: `the lookup answered ${status} with a body that is no JSON`, ...about }
  }
  if (status >= 200 && status < 300) return { kind: 'acted', why: `the lookup answered ${status}`, ...about }
  if (status === 404) return { kind: 'absent', why: 'the lookup answered 404', ...about }
  return { kind: 'nothing', why: `the lookup answered ${status}`, ...about }
}

/**
 * `Retry-After` in both forms of RFC 9110 section 10.2.3, bounded to `maxRetryAfterMs`; undefined when absent,
 * malformed or in the past.
 */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined
  const text = header.trim()
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : parseHttpDate(text) - now
  return ms >= 0 ? Math.min(ms, maxRetryAfterMs) : undefined
}

/**
 * The three forms of an HTTP date (RFC 9110 section 5.6.7), in milliseconds since the epoch, or NaN. Date.parse
 * alone would find a year in any text, and takes the third form, which is in GMT, for local time.
 */
function parseHttpDate(text: string): number {
  const fixed = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/
  const rfc850 = /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/
  const asctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/
  if (fixed.test(text) || rfc850.test(text)) return Date.parse(text)
  return asctime.test(text) ? Date.parse(`${text} GMT`) : Number.NaN
}

type Answered = Extract<Exchange, { kind: 'answered' }>

function matches({ status, body }: AnswerPattern, answer: Answered): boolean {
  return fits(status, answer) && (body === undefined || memberOf(answer, body.pointer) === body.equals)
}

function fits(status: AnswerPattern['status'], answer: Answered): boolean {
  return typeof status === 'number' ? status === answer.status : status[0] === String(answer.status)[0]
}

/** The contract reads the body of this status, and this body cannot be read: its status alone proves nothing. */
function dependsOnBody({ status, body }: AnswerPattern, answer: Answered): boolean {
  return body !== undefined && fits(status, answer) && !isJson(answer)
}

function isJson(answer: Answered): boolean {
  try {
    JSON.parse(new TextDecoder().decode(answer.body))
    return true
  } catch {
    return false
  }
}

function correlationOf(contract: Contract, answer: Answered): string | undefined {
  const where = contract.correlation
  if (where === undefined) return undefined
  const found =
    'header' in where ? answer.headers[where.header.toLowerCase()] : memberOf(answer, where.pointer)
  return typeof found === 'string' || typeof found === 'number' ? String(found).slice(0, 200) : undefined
}

function memberOf(answer: Answered, pointer: string): unknown {
  try {
    return readPointer(JSON.parse(new TextDecoder().decode(answer.body)), pointer)
  } catch {
    return undefined
  }
}

function optional<Name extends string, Value>(name: Name, value: Value | undefined): { [N in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { [N in Name]?: Value }
}
