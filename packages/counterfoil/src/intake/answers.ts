import { type ErrorCode, problemDocument } from '../domain/index.ts'
import type { Accepted } from '../store/index.ts'
import type { OwnAnswer, OwnAnswers } from './producer-kind.ts'

/** What a sender did wrong, and what he sees (design.md section 5). Never 410: it tells many senders to switch the endpoint off. */
const statusOf: Partial<Record<ErrorCode, number>> = {
  producer_unknown: 404,
  method_not_allowed: 405,
  signature_missing: 401,
  signature_invalid: 401,
  timestamp_invalid: 401,
  timestamp_stale: 401,
  key_address_refused: 401,
  body_too_large: 413,
  body_too_slow: 408,
  body_broken: 400,
  content_type_unsupported: 415,
  content_encoding_unsupported: 415,
  syntax_invalid: 400,
  identity_invalid: 400,
  beyond_retention: 422,
  overloaded: 429,
  rate_limited: 429,
  headers_too_large: 431,
}

/** Seconds after which a sender may try again. */
const retryAfter = '2'

/**
 * Nothing was stored, and why.
 *
 * @param about headers of this refusal alone
 * @param members further members of its document
 */
export function refusal(
  code: ErrorCode,
  detail: string,
  about: Readonly<Record<string, string>> = {},
  own?: OwnAnswers,
  members?: Readonly<Record<string, unknown>>,
): Response {
  return problem(ownStatus(code, own) ?? statusOf[code] ?? 503, code, detail, about, members)
}

function ownStatus(code: ErrorCode, own: OwnAnswers | undefined): number | undefined {
  if (code === 'beyond_retention') return own?.beyondRetention?.status
  return statusOf[code] === 401 ? own?.unauthenticated?.status : undefined
}

/** Our own failure, whatever its code means elsewhere: some producers drop an event for ever on a 4xx. */
export function unavailable(code: ErrorCode): Response {
  return problem(503, code, 'Nothing was acknowledged; send it again.')
}

/**
 * RFC 9457: the one place that writes a problem.
 *
 * @param about headers of this problem alone; they win
 * @param members further members of its document
 */
export function problem(
  status: number,
  code: ErrorCode,
  detail: string,
  about: Readonly<Record<string, string>> = {},
  members: Readonly<Record<string, unknown>> = {},
): Response {
  const headers: Record<string, string> = { 'content-type': 'application/problem+json' }
  if (status === 503 || status === 429) headers['retry-after'] = retryAfter
  Object.assign(headers, about)
  return new Response(JSON.stringify(problemDocument(status, code, detail, members)), { status, headers })
}

const jsonHeaders = { 'content-type': 'application/json' }

/** Only after the commit. */
export function acknowledgement(accepted: Accepted, own: OwnAnswers | undefined): Response {
  const answer = own?.[accepted.outcome] ?? own?.accepted
  if (answer?.body !== undefined) return ownAnswer(answer)
  const status = answer?.status ?? (accepted.outcome === 'duplicate' ? 200 : 202)
  return json(status, JSON.stringify(bodyOf(accepted)), answer)
}

/**
 * One answer for all events that came together, in their order. The commit took all of them; the answer tells
 * which of them start no work.
 */
export function batchAcknowledgement(accepted: readonly Accepted[], own: OwnAnswers | undefined): Response {
  const answer = own?.accepted
  if (answer?.body !== undefined) return ownAnswer(answer)
  const count = (outcome: Accepted['outcome']) => accepted.filter((one) => one.outcome === outcome).length
  const body = {
    outcome: 'batch',
    accepted: count('accepted'),
    duplicate: count('duplicate'),
    quarantined: count('quarantined'),
    conflict: count('conflict'),
    events: accepted.map(bodyOf),
  }
  const status = answer?.status ?? (body.duplicate === accepted.length ? 200 : 202)
  return json(status, JSON.stringify(body), answer)
}

/** What the producer asked for, and nothing of ours. */
export function ownAnswer({ status, headers = {}, body = '' }: OwnAnswer): Response {
  return new Response(body === '' ? null : body, { status, headers })
}

function json(status: number, body: string, answer: OwnAnswer | undefined): Response {
  const bodiless = status === 204 || status === 205 || status === 304
  if (bodiless) return new Response(null, { status, headers: answer?.headers ?? {} })
  return new Response(body, {
    status,
    headers: answer?.headers === undefined ? jsonHeaders : { ...jsonHeaders, ...answer.headers },
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
