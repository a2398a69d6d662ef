import type { Contract, OutcomeRule } from '../domain/index.ts'
import type { Settings } from './settings.ts'

/** Where a guard publishes its contract (RFC 8615). */
export const contractPath = '/.well-known/counterfoil-contract.json'

/**
 * What a guard promises, in the form that senders read. It promises no more than it keeps: a refusal of one attempt
 * says nothing of an earlier one, because an authentication in front of the guard refuses too.
 */
export function contractOf(settings: Settings): Contract {
  const { headers, remembersForMs, acceptsForMs, clockSkewMs, path } = settings
  return {
    idempotency: {
      header: canonicalName(headers.key),
      format: { form: 'text', maxLength: 64, prefix: 'cf_' },
      remembersFor: remembersForMs,
      otherPayload: 'refused',
      replays: 'first-success',
    },
    lookup: {
      by: 'key',
      path: `${path}/keys/{key}`,
      absence: acceptsForMs === null ? { final: false } : { final: true, after: acceptsForMs + clockSkewMs },
      answers: [
        { status: 409, body: { pointer: '/state', equals: 'refused' }, means: 'refused' },
        { status: 409, body: { pointer: '/state', equals: 'tombstoned' }, means: 'refused' },
        { status: 409, means: 'nothing' },
      ],
    },
    ordering: { fence: { header: canonicalName(headers.fenceVersion), rejectedWith: 412 } },
    outcomes,
  }
}

const byCode = (status: number, code: string, means: OutcomeRule['means']): OutcomeRule => ({
  status,
  body: { pointer: '/code', equals: code },
  means,
})

/** Read after `refusal.ts`: which of the guard's own answers prove what. */
const outcomes: readonly OutcomeRule[] = [
  byCode(409, 'guard_in_flight', 'unknown'),
  byCode(422, 'guard_key_expired', 'unknown'),
  byCode(422, 'guard_attempt_stale', 'not-acted'),
  byCode(503, 'store_unavailable', 'not-acted'),
  byCode(503, 'store_busy', 'not-acted'),
]

/** `idempotency-key` → `Idempotency-Key`. */
function canonicalName(name: string): string {
  return name.replaceAll(/(^|-)[a-z]/g, (letter) => letter.toUpperCase())
}
