import { CounterfoilError, codeOf, type ErrorCode } from '../domain/index.ts'
import { problem } from '../intake/index.ts'

/** What an operator's request did wrong, as an HTTP status; anything else is our own failure. */
const statusOf: Partial<Record<ErrorCode, number>> = {
  request_invalid: 400,
  usage_invalid: 400,
  decision_invalid: 400,
  not_authenticated: 401,
  not_authorised: 403,
  request_foreign: 403,
  second_person_needed: 403,
  not_found: 404,
  decision_stale: 409,
  decision_id_used: 409,
  quarantine_settled: 409,
  action_refused: 409,
  reprocess_refused: 409,
  selection_changed: 409,
  erasure_refused: 409,
  retention_missing: 409,
  body_too_large: 413,
  content_type_unsupported: 415,
  credentials_locked: 429,
}

/** The problem that answers an error of the operator interface. */
export function refusalOf(error: unknown): Response {
  const code = codeOf(error) ?? 'internal'
  const status = statusOf[code]
  if (status === undefined || !(error instanceof CounterfoilError)) {
    return problem(503, code, 'The server could not answer; try again.', { 'retry-after': '5' })
  }
  const about = code === 'not_authenticated' ? { 'www-authenticate': 'Bearer' } : {}
  return problem(status, code, [error.message, error.hint ?? ''].join(' ').trim(), about)
}
