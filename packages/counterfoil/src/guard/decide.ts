import type { Fingerprint, Instant } from '../domain/index.ts'
import type { StoredAnswer } from './answer.ts'
import type { Refusal } from './refusal.ts'

/** What the rule reads of a request. */
export interface Claimant {
  readonly fingerprint: Fingerprint
  /** When its effect was planned, as its sender says; null where that is not asked for. */
  readonly plannedAt: Instant | null
  /** When this attempt was begun, as its sender says; null where that is not asked for. */
  readonly begunAt: Instant | null
}

/** What is known of a key. */
export type KeyRow =
  | {
      readonly kind: 'answered'
      readonly fingerprint: Fingerprint
      readonly plannedAt: Instant | null
      readonly at: Instant
      readonly expiresAt: Instant
      readonly status: number
      /** Null once its time is over: then only the fact remains. */
      readonly answer: StoredAnswer | null
    }
  | { readonly kind: 'tombstoned'; readonly at: Instant }

/** What the transaction sees once it holds the key. */
export interface Claim {
  /** Another transaction holds the key; nothing else is known then. */
  readonly inFlight: boolean
  readonly row: KeyRow | null
  /** Read after the key was taken: a lookup that held it before has been answered by then. */
  readonly now: Instant
}

export interface AgeRules {
  readonly remembersForMs: number
  /** Keys go altogether after `remembersForMs`. */
  readonly forgetKeys: boolean
  /** How long after its attempt was begun a request may still act; null: for ever. */
  readonly acceptsForMs: number | null
  /** How far a sender's clock and ours may differ. */
  readonly clockSkewMs: number
}

export type Verdict =
  | { readonly kind: 'act' }
  | { readonly kind: 'replay'; readonly answer: StoredAnswer }
  | { readonly kind: 'refuse'; readonly refusal: Refusal }

/**
 * Whether a request acts. Pure; the fence is compared afterwards, in the same transaction. A key that acted or was
 * closed never acts again; one that is not there acts only when it cannot have been forgotten, and when no lookup
 * can have called it absent for good.
 */
export function decide(call: Claimant, { inFlight, row, now }: Claim, rules: AgeRules): Verdict {
  if (inFlight) return refuse('guard_in_flight', 'Its answer is not decided yet; ask again shortly.')
  if (row !== null) return decideKnown(call, row, now)
  return tooOld(call, now, rules) ?? { kind: 'act' }
}

function decideKnown(call: Claimant, row: KeyRow, now: Instant): Verdict {
  if (row.kind === 'tombstoned') {
    return refuse('guard_tombstoned', `It was closed at ${time(row.at)} before it acted.`, {
      closedAt: time(row.at),
    })
  }
  if (row.fingerprint !== call.fingerprint) {
    return refuse('guard_key_reused', 'Method, path or body differ from those of the first request.')
  }
  if (row.plannedAt !== null && call.plannedAt !== null && row.plannedAt !== call.plannedAt) {
    return refuse('guard_key_reused', 'The first request said that it was planned at another time.')
  }
  if (row.answer === null || row.expiresAt <= now) {
    return refuse('guard_key_expired', `It was answered at ${time(row.at)}; the answer is no longer kept.`, {
      answeredAt: time(row.at),
    })
  }
  return { kind: 'replay', answer: row.answer }
}

function tooOld(call: Claimant, now: Instant, rules: AgeRules): Verdict | null {
  const { forgetKeys, remembersForMs, acceptsForMs, clockSkewMs } = rules
  for (const at of [call.plannedAt, call.begunAt]) {
    if (at !== null && at > now + clockSkewMs)
      return refuse('guard_time_invalid', `${time(at)} is in the future of this service's clock.`)
  }
  if (forgetKeys && (call.plannedAt === null || call.plannedAt + remembersForMs - clockSkewMs <= now)) {
    return refuse(
      'guard_key_expired',
      'Planned so long ago that this key may have acted and been forgotten; it is not carried out.',
    )
  }
  if (acceptsForMs !== null && (call.begunAt === null || call.begunAt + acceptsForMs <= now)) {
    return refuse('guard_attempt_stale', 'It travelled too long; a lookup may have called it absent since.')
  }
  return null
}

function refuse(code: Refusal['code'], detail: string, members?: Readonly<Record<string, unknown>>): Verdict {
  return { kind: 'refuse', refusal: { code, detail, ...(members === undefined ? {} : { members }) } }
}

function time(at: Instant): string {
  return new Date(at).toISOString()
}
