import {
  assert,
  type Contract,
  CounterfoilError,
  codeOf,
  type Exchange,
  type IdempotencyKey,
} from '../domain/index.ts'
import type { Network } from './network.ts'
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
  /** Credentials, asked for at each call and stored nowhere. */
  readonly headers?: () => Record<string, string>
  readonly allowPrivateAddresses: boolean
  /** Attempts in flight at once. */
  readonly concurrency: number
}

/** A place in an ordering domain; only the version is sent, and the recipient compares it. */
export interface Order {
  readonly domain: string
  readonly version: number | bigint | string
}

/**
 * One attempt: the stored bytes under the stored key. Never rejects: what keeps it from being sent, such as
 * a headers function that throws, is told as `notSent`, and the effect stays planned.
 */
export async function attempt(
  network: Network,
  recipient: HttpRecipient,
  stored: StoredRequest,
  key: IdempotencyKey,
  order: Order | null,
  signal: AbortSignal,
): Promise<Exchange> {
  const { idempotency, ordering } = recipient.contract
  return await unlessUnfit(() => {
    const own: Record<string, string> = {}
    if (idempotency !== undefined) own[idempotency.header.toLowerCase()] = key
    if (order !== null) {
      // Its contract has changed since planning; without the fence the order would silently be lost.
      if (ordering === undefined)
        throw new CounterfoilError(
          'order_without_fence',
          `recipient '${recipient.name}' compares no versions`,
        )
      own[ordering.fence.header.toLowerCase()] = String(order.version)
    }
    const shared = common(recipient)
    const request = {
      ...shared,
      url: targetUrl(recipient.url, stored.path),
      method: stored.method,
      headers: { ...shared.headers, ...stored.headers, ...own },
      body: stored.body,
    }
    return network.send(request, signal)
  })
}

/** Asks what became of a key, where the contract offers a lookup. Never rejects, like `attempt`. */
export async function lookup(
  network: Network,
  recipient: HttpRecipient,
  key: IdempotencyKey,
  signal: AbortSignal,
): Promise<Exchange> {
  const asked = recipient.contract.lookup
  assert(asked !== undefined, `recipient '${recipient.name}' offers no lookup`)
  return await unlessUnfit(() => {
    const path = asked.path.replaceAll('{key}', () => encodeURIComponent(key))
    return network.send(
      { ...common(recipient), url: targetUrl(recipient.url, path), method: 'GET', body: null },
      signal,
    )
  })
}

/** What every request to the recipient has. Stored and own headers are laid over these. */
function common(recipient: HttpRecipient) {
  const { timeoutMs, allowPrivateAddresses } = recipient
  return {
    timeoutMs,
    maxAnswerBytes,
    allowPrivateAddresses,
    headers: { ...defaults, ...credentials(recipient) },
  }
}

/** `identity`: contracts read members of answers, and nothing here unpacks them. */
const defaults = { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'counterfoil' }

function credentials(recipient: HttpRecipient): Record<string, string> {
  const refuse = (why: string): never => {
    throw new CounterfoilError(
      'config_invalid',
      `the headers function of recipient '${recipient.name}' ${why}`,
    )
  }
  let given: unknown
  try {
    given = recipient.headers?.() ?? {}
  } catch (error) {
    // Its message may quote the credential.
    refuse(`threw ${error instanceof Error ? error.name : 'something'}`)
  }
  // A promise has no members: the request would go out without credentials and be refused for good.
  if (typeof given !== 'object' || given === null || given instanceof Promise)
    refuse('gave no object of headers')
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(given as object)) {
    if (!isHeader(name, value)) refuse(`gave a header that is not valid: '${name.slice(0, 100)}'`)
    if (isFramingHeader(name.toLowerCase())) refuse(`gave '${name}', which frames the message`)
    headers[name.toLowerCase()] = value as string
  }
  return headers
}

/** Our own refusals happen before anything is sent; anything else is a fault of this program and thrown. */
async function unlessUnfit(send: () => Promise<Exchange>): Promise<Exchange> {
  try {
    return await send()
  } catch (error) {
    const code = codeOf(error)
    if (!(error instanceof CounterfoilError) || code === 'internal') throw error
    return { kind: 'notSent', why: `${code}: ${error.message}` }
  }
}
