import { type ErrorCode, problemDocument } from '../domain/index.ts'
import type { Accepted } from '../store/index.ts'

/** What a sender did wrong, and what he sees (design.md section 5). Never 410: it tells many senders to switch the endpoint off. */
const statusOf: Partial<Record<ErrorCode, number>> = {
  producer_unknown: 404,
  method_not_allowed: 405,
  signature_missing: 401,
  signature_invalid: 401,
  timestamp_invalid: 401,
  timestamp_stale: 401,
  body_too_large: 413,
  body_too_slow: 408,
  body_broken: 400,
  content_type_unsupported: 415,
  content_encoding_unsupported: 415,
  syntax_invalid: 400,
  identity_invalid: 400,
  overloaded: 429,
}

/** Seconds after which a sender may try again. */
const retryAfter = '2'

/** Nothing was stored, and why. */
export function refusal(code: ErrorCode, detail: string): Response {
  return problem(statusOf[code] ?? 503, code, detail)
}

/** Our own failure, whatever its code means elsewhere: some producers drop an event for ever on a 4xx. */
export function unavailable(code: ErrorCode): Response {
  return problem(503, code, 'Nothing was acknowledged; send it again.')
}

/**
 * RFC 9457: the one place that writes a problem.
 *
 * @param about headers of this problem alone; they win
 */
export function problem(
  status: number,
  code: ErrorCode,
  detail: string,
  about: Readonly<Record<string, string>> = {},
): Response {
  const headers: Record<string, string> = { 'content-type': 'application/problem+json' }
  if (status === 503 || status === 429) headers['retry-after'] = retryAfter
  if (status === 405) headers.allow = 'POST'
  Object.assign(headers, about)
  return new Response(JSON.stringify(problemDocument(status, code, detail)), { status, headers })
}

const jsonHeaders = { 'content-type': 'application/json' }

/** Only after the commit. */
export function acknowledgement(accepted: Accepted): Response {
  return new Response(JSON.stringify(bodyOf(accepted)), {
    status: accepted.outcome === 'duplicate' ? 200 : 202,
    headers: jsonHeaders,
  })
}

function bodyOf(accepted: Accepted): Readonly<Record<string, unknown>> {
  const { receipt, outcome } = accepted
  switch (accepted.outcome) {
    case 'accepted':
      return accepted.sameContentAs === null
        ? { receipt, outcome }
        : { receipt, outcome, sameContentAs: accepted.sameContentAs }
    case 'duplicate':
      return { receipt, outcome }
    case 'quarantined':
      return { receipt, outcome, quarantine: accepted.quarantine, reason: accepted.reason }
    case 'conflict':
      return {
        receipt,
        outcome,
        quarantine: accepted.quarantine,
        reason: 'identity-conflict',
        first: accepted.first,
      }
  }
}
