import { type ErrorCode, problemDocument } from '../domain/index.ts'
import type { StoredAnswer } from './answer.ts'

/** Why a request does not act. */
export interface Refusal {
  readonly code: ErrorCode
  readonly detail: string
  readonly headers?: Readonly<Record<string, string>>
  /** Further members of the problem. */
  readonly members?: Readonly<Record<string, unknown>>
}

/** 400, 409 and 422 as the Idempotency-Key draft has them (section 2.7); 412 is RFC 9110 section 15.5.13. */
const statusOf: Partial<Record<ErrorCode, number>> = {
  guard_key_missing: 400,
  guard_key_invalid: 400,
  guard_time_invalid: 400,
  guard_fence_invalid: 400,
  not_authenticated: 401,
  not_found: 404,
  method_not_allowed: 405,
  body_too_slow: 408,
  guard_in_flight: 409,
  guard_fenced: 412,
  guard_tombstoned: 412,
  body_too_large: 413,
  content_encoding_unsupported: 415,
  guard_key_reused: 422,
  guard_key_expired: 422,
  guard_attempt_stale: 422,
  body_broken: 400,
}

/** Seconds after which a request that met one in flight, or a store that is down, may be sent again. */
const retryAfter = '1'

export function refusalStatus(code: ErrorCode): number {
  return statusOf[code] ?? 503
}

/**
 * RFC 9457, with a link to the published contract, as the draft asks of its errors.
 *
 * @param contractPath where the contract is published
 */
export function toProblem({ code, detail, headers, members }: Refusal, contractPath: string): StoredAnswer {
  const status = refusalStatus(code)
  const all = {
    'cache-control': 'no-store',
    'content-type': 'application/problem+json',
    link: `<${contractPath}>; rel="describedby"`,
    ...(status === 409 || status === 503 ? { 'retry-after': retryAfter } : {}),
    ...headers,
  }
  const body = Buffer.from(JSON.stringify(problemDocument(status, code, detail, members)))
  return { status, headers: Object.entries(all), body }
}
