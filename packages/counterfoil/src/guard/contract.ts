import type { AnswerPattern, Contract, ErrorCode, OutcomeRule } from '../domain/index.ts'
import type { KeyState } from './record.ts'
import type { Settings } from './settings.ts'

/**
 * What a guard promises, in the form that senders read. It promises no more than it keeps: a refusal of one attempt
 * says nothing of an earlier one, because an authentication in front of the guard refuses too.
 */
export function contractOf(settings: Settings): Contract {
  const { headers, remembersForMs, acceptsForMs, clockSkewMs, path } = settings
  const times = {
    ...(settings.needsPlannedAt ? { plannedAt: canonicalName(headers.plannedAt) } : {}),
    ...(settings.needsBegunAt ? { begunAt: canonicalName(headers.begunAt) } : {}),
  }
  // A marker or a tombstone outlives the answer.
  const findsFor = settings.forgetKeys ? {} : ({ findsFor: 'forever' } as const)
  return {
    idempotency: {
      header: canonicalName(headers.key),
      scope: 'account',
      remembersFor: remembersForMs,
      otherPayload: 'refused',
      inFlight: coded(409, 'guard_in_flight'),
      replays: 'first-success',
      marker: { header: canonicalName(headers.replayed), equals: 'true' },
    },
    lookup: {
      by: 'key',
      path: `${path}/keys/{key}`,
      absence: acceptsForMs === null ? { final: false } : { final: true, after: acceptsForMs + clockSkewMs },
      ...findsFor,
      answers: [
        { ...inState('refused'), means: 'refused' },
        // Closed before it acted: it has not and never will.
        { ...inState('tombstoned'), means: 'refused' },
        { ...inState('in-flight'), means: 'pending' },
      ],
    },
    ordering: {
      fence: {
        header: canonicalName(headers.fenceVersion),
        domain: canonicalName(headers.fenceDomain),
        rejectedWith: 412,
      },
      tombstone: {
        method: 'PUT',
        path: `${path}/tombstones/{key}`,
        answers: [
          { ...inState('acted'), means: 'acted' },
          // A 4xx is this key's answer for good.
          { ...inState('refused'), means: 'refused' },
        ],
        ...findsFor,
      },
    },
    outcomes,
    ...(Object.keys(times).length === 0 ? {} : { times }),
  }
}

/** A problem of the guard's own. */
function coded(status: number, code: ErrorCode): AnswerPattern {
  return { status, body: { pointer: '/code', equals: code } }
}

/** A record of a key that is not plainly acted, absent or closed. */
function inState(state: KeyState): AnswerPattern {
  return { status: 409, body: { pointer: '/state', equals: state } }
}

/** Read after `refusal.ts`: which of the guard's own answers prove what. */
const outcomes: readonly OutcomeRule[] = [
  { ...coded(422, 'guard_key_expired'), means: 'unknown' },
  { ...coded(422, 'guard_attempt_stale'), means: 'not-acted' },
  { ...coded(503, 'store_unavailable'), means: 'not-acted' },
  { ...coded(503, 'store_busy'), means: 'not-acted' },
]

/** `idempotency-key` → `Idempotency-Key`. */
function canonicalName(name: string): string {
  return name.replaceAll(/(^|-)[a-z]/g, (letter) => letter.toUpperCase())
}
