import type { Contract } from './contract.ts'
import { inWords, milliseconds } from './duration.ts'
import type { Instant } from './ids.ts'
import { type EffectState, type Fact, isFinalState } from './lifecycle.ts'
import type { Outcome } from './outcome.ts'

/** What the policy reads of an attempt. */
export interface PastAttempt {
  readonly number: number
  readonly begunAt: Instant
  readonly endedAt: Instant | null
  readonly outcome: 'confirmed' | 'refused' | 'fenced' | 'notActed' | 'unknown' | null
  /** Something may still come of it: it is in flight, or unknown and not yet closed by evidence. */
  readonly open: boolean
  readonly retryAfterMs: number | null
}

export interface Situation {
  readonly contract: Contract
  readonly state: EffectState
  readonly plannedAt: Instant
  readonly attempts: readonly PastAttempt[]
  /** When lookups that proved nothing were made, oldest first. */
  readonly lookups: readonly Instant[]
}

/** What may happen next to an effect, when, and the sentence that explains it. */
export type Step =
  | { readonly kind: 'attempt' | 'lookup' | 'repeat'; readonly at: Instant; readonly why: string }
  /** An attempt is in flight; its answer or the end of its lease comes next. */
  | { readonly kind: 'wait'; readonly why: string }
  /** The contract allows the engine nothing more: a person decides, with evidence. */
  | { readonly kind: 'operator'; readonly why: string }
  | { readonly kind: 'done'; readonly why: string }

/** Delays between tries double from the first to the last; the engine adds jitter. */
export const backOff = { firstMs: 1_000, lastMs: 300_000 } as const
/** After this long without evidence an unknown effect is given to its owner. */
export const escalateAfterMs = 86_400_000
/** Share of a recipient's key retention that is never used for repeats: clocks differ and requests stall. */
export const retentionMargin = 0.1

/** Contract → policy (design.md section 3, Contracts). Pure: the same situation always gives the same step. */
export function nextStep(situation: Situation, now: Instant): Step {
  const { state, attempts } = situation
  if (isFinalState(state)) return { kind: 'done', why: doneBecause[state] }
  if (state === 'attempting') {
    return {
      kind: 'wait',
      why: 'An attempt is in flight. Its answer decides; if its lease ends first, the effect becomes unknown.',
    }
  }
  if (state === 'planned') return attemptStep(situation)
  const last = attempts.at(-1)
  const ended = last?.endedAt ?? last?.begunAt ?? situation.plannedAt
  return unknownStep(situation, ended, now)
}

function attemptStep({ plannedAt, attempts }: Situation): Step {
  const last = attempts.at(-1)
  if (last === undefined) return { kind: 'attempt', at: plannedAt, why: 'Planned and not yet attempted.' }
  const delay = Math.max(backOffMs(attempts.length - 1), last.retryAfterMs ?? 0)
  return {
    kind: 'attempt',
    at: (last.endedAt ?? last.begunAt) + delay,
    why: `It is proved that attempt ${last.number} did not act, so the same request goes out again under the same key.`,
  }
}

function unknownStep(situation: Situation, ended: Instant, now: Instant): Step {
  const { contract, attempts, lookups } = situation
  const { lookup } = contract
  const sinceLast = lookups.filter((at) => at >= ended)
  if (lookup !== undefined && sinceLast.length === 0) {
    return {
      kind: 'lookup',
      at: ended + milliseconds(lookup.after ?? '1s'),
      why: 'The recipient may have acted. Its contract offers a lookup by key, so it is asked.',
    }
  }
  const until = repeatUntil(situation)
  const asked = sinceLast.at(-1) ?? ended
  if (until !== null) {
    const delay = Math.max(backOffMs(attempts.length - 1), attempts.at(-1)?.retryAfterMs ?? 0)
    const at = asked + delay
    if (Math.max(at, now) < until) {
      return {
        kind: 'repeat',
        at,
        why: `The recipient remembers keys for ${inWords(milliseconds(contract.idempotency!.remembersFor))}, so repeating the same request under the same key acts at most once.`,
      }
    }
  }
  const first = attempts.find((attempt) => attempt.open) ?? attempts[0]
  if (lookup !== undefined && now < (first?.begunAt ?? ended) + escalateAfterMs) {
    const finalAt = lookup.absence.final ? ended + milliseconds(lookup.absence.after ?? 0) : 0
    const nextAsk = asked + backOffMs(sinceLast.length - 1)
    // Asking just after absence becomes final saves a whole back-off step.
    const at = asked < finalAt ? Math.max(Math.min(nextAsk, finalAt), asked) : nextAsk
    return {
      kind: 'lookup',
      at,
      why: lookup.absence.final
        ? `The last lookup proved nothing. It is asked again; "not there" is final ${inWords(milliseconds(lookup.absence.after ?? 0))} after the last attempt ended.`
        : 'The last lookup proved nothing, and absence is only a hint at this recipient. It is asked again.',
    }
  }
  return { kind: 'operator', why: operatorBecause(contract, until !== null) }
}

/** The last moment at which a repeat is duplicate-safe; null when the contract makes no repeat safe. I16. */
export function repeatUntil({
  contract,
  attempts,
}: Pick<Situation, 'contract' | 'attempts'>): Instant | null {
  const first = attempts[0]
  if (contract.idempotency === undefined || contract.idempotency.replays === 'nothing' || first === undefined)
    return null
  return first.begunAt + milliseconds(contract.idempotency.remembersFor) * (1 - retentionMargin)
}

/** True when "not there", answered now, proves that nothing acted or ever will (design.md: absence can be overtaken). */
export function absenceIsFinal(
  { contract, attempts }: Pick<Situation, 'contract' | 'attempts'>,
  askedAt: Instant,
): boolean {
  const absence = contract.lookup?.absence
  if (absence === undefined || !absence.final) return false
  const ends = attempts.map((attempt) => attempt.endedAt ?? Number.POSITIVE_INFINITY)
  return askedAt >= Math.max(...ends) + milliseconds(absence.after ?? 0)
}

/**
 * Which fact an attempt's outcome is for the whole effect. An answer that proves its own attempt did not act
 * says nothing of an earlier attempt that is still open; only a recipient that stores its first answer,
 * whatever it was, would have replayed the earlier one.
 */
export function factOfAnswer(
  situation: Pick<Situation, 'contract' | 'state' | 'attempts'>,
  answered: number,
  outcome: Pick<Outcome, 'kind'>,
): Fact {
  if (outcome.kind === 'confirmed') return 'confirmed'
  if (outcome.kind === 'unknown') return 'unclear'
  const { attempts, state, contract } = situation
  if (state === 'attempting' && answered !== attempts.at(-1)?.number) return 'overtaken'
  const othersOpen = attempts.some((attempt) => attempt.number !== answered && attempt.open)
  const speaksForAll = outcome.kind === 'refused' && contract.idempotency?.replays === 'first-answer'
  return othersOpen && !speaksForAll ? 'earlierOpen' : outcome.kind
}

function backOffMs(tries: number): number {
  return Math.min(backOff.firstMs * 2 ** Math.max(0, Math.min(tries, 30)), backOff.lastMs)
}

const doneBecause = {
  confirmed: 'Final: there is evidence that the recipient acted.',
  refused: 'Final: the recipient refused it for good and did not act.',
  fenced: 'Final: the recipient rejected it because a newer version is already there.',
  withdrawn: 'Final: it was withdrawn and can never act.',
} as const

function operatorBecause(contract: Contract, couldRepeat: boolean): string {
  if (couldRepeat) {
    return 'The recipient may have acted, and it no longer remembers the key for certain: a repeat could act twice. A person decides, with evidence.'
  }
  if (contract.lookup !== undefined) {
    return 'The recipient may have acted, and its lookup has proved nothing for a day. A person decides, with evidence.'
  }
  return 'The recipient may have acted. It recognises no repeat and offers no lookup, so the engine does nothing more: a person decides, with evidence.'
}
