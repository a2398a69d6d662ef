import type { Contract, Idempotency } from './contract.ts'
import { milliseconds } from './duration.ts'
import type { Instant } from './ids.ts'
import { type EffectState, type Fact, isFinalState } from './lifecycle.ts'
import type { Outcome } from './outcome.ts'
import { because } from './policy-words.ts'

/** What the policy reads of an attempt. */
export interface PastAttempt {
  readonly number: number
  readonly begunAt: Instant
  readonly endedAt: Instant | null
  readonly outcome: 'confirmed' | 'refused' | 'fenced' | 'notActed' | 'unknown' | null
  /** Something may still come of it: it is in flight, or unknown and not yet closed by evidence. */
  readonly open: boolean
  readonly retryAfterMs: number | null
  /** The recipient's own id of the operation, where an answer carried it. */
  readonly correlation: string | null
}

export interface Situation {
  readonly contract: Contract
  readonly state: EffectState
  readonly plannedAt: Instant
  readonly attempts: readonly PastAttempt[]
  /** When lookups that proved nothing were made, oldest first. */
  readonly lookups: readonly Instant[]
  /** When tombstones were sent that proved nothing, oldest first. */
  readonly tombstones: readonly Instant[]
  /** The recipient has said that it took on the last attempt and will act later. */
  readonly accepted: boolean
}

/** What may happen next to an effect, when, and the sentence that explains it. */
export type Step =
  | {
      readonly kind: 'attempt' | 'lookup' | 'repeat' | 'tombstone'
      readonly at: Instant
      readonly why: string
    }
  /** An attempt is in flight; its answer or the end of its lease comes next. */
  | { readonly kind: 'wait'; readonly why: string }
  /** The contract allows the engine nothing more: a person decides, with evidence. */
  | { readonly kind: 'operator'; readonly why: string }
  | { readonly kind: 'done'; readonly why: string }

/** Delays between tries double from the first to the last; the engine adds jitter. */
export const backOff = { firstMs: 1_000, lastMs: 300_000 } as const
/** After this long without evidence an unknown effect is given to its owner. */
export const escalateAfterMs = 86_400_000
/** After this long of tries that provably did not act, the owner is told, while the tries go on. */
export const alertUnsentAfterMs = 900_000
/** Share of a recipient's key retention that is never used for repeats: clocks differ and requests stall. */
export const retentionMargin = 0.1
/**
 * Shares of the time in which closing a key proves something. Past the first nobody goes on asking for hints; past the
 * second nobody repeats where repeats end some day too: the last of them, late and unanswered, would leave no time to close.
 */
export const closingFrom = { asking: 0.5, repeating: 0.75 } as const

/** Contract → policy (design.md section 3, Contracts). Pure: the same situation always gives the same step. */
export function nextStep(situation: Situation, now: Instant): Step {
  const { state } = situation
  if (isFinalState(state)) return { kind: 'done', why: because.done[state] }
  if (state === 'attempting') return { kind: 'wait', why: because.inFlight }
  return state === 'planned' ? attemptStep(situation) : unknownStep(situation, now)
}

function attemptStep({ plannedAt, attempts }: Situation): Step {
  const last = attempts.at(-1)
  if (last === undefined) return { kind: 'attempt', at: plannedAt, why: because.planned }
  const delay = Math.max(backOffMs(attempts.length - 1), last.retryAfterMs ?? 0)
  return { kind: 'attempt', at: (last.endedAt ?? last.begunAt) + delay, why: because.unsent(last.number) }
}

/** In this order: ask, repeat where the key or a condition makes it safe, ask on, close the key, give it to a person. */
function unknownStep(situation: Situation, now: Instant): Step {
  const { contract, attempts, lookups, accepted } = situation
  const last = attempts.at(-1)
  const ended = last?.endedAt ?? last?.begunAt ?? situation.plannedAt
  const first = attempts.find((attempt) => attempt.open) ?? attempts[0]
  const escalateAt = (first?.begunAt ?? ended) + escalateAfterMs
  const { lookup } = contract
  const asks = lookup !== undefined && (lookup.by !== 'correlation' || correlationOf(attempts) !== null)
  const sinceLast = lookups.filter((at) => at >= ended)
  if (asks && sinceLast.length === 0) {
    return {
      kind: 'lookup',
      at: ended + milliseconds(lookup.after ?? '1s'),
      why: because.ask(lookup, accepted),
    }
  }
  const asked = sinceLast.at(-1) ?? ended
  const until = repeatUntil(situation)
  // What was accepted is in work, and what was fenced once will be fenced again: to repeat it would learn nothing.
  if (until !== null && !accepted && last?.outcome !== 'fenced') {
    const at = asked + Math.max(backOffMs(attempts.length - 1), last?.retryAfterMs ?? 0)
    const when = Math.max(at, now)
    const closesFirst =
      Number.isFinite(until) && shouldClose(situation, { now, when, from: closingFrom.repeating })
    if (when < until && !closesFirst) return { kind: 'repeat', at, why: because.repeat(contract) }
  }
  const closes = shouldClose(situation, { now, when: now, from: closingFrom.asking })
  if (asks && now < escalateAt && (accepted || !closes)) {
    const finalAt = lookup.absence.final ? ended + milliseconds(lookup.absence.after ?? 0) : 0
    const nextAsk = asked + backOffMs(sinceLast.length - 1)
    // Asking just after absence becomes final saves a whole back-off step.
    const at = asked < finalAt ? Math.max(Math.min(nextAsk, finalAt), asked) : nextAsk
    return { kind: 'lookup', at, why: because.askAgain(lookup, accepted) }
  }
  if (closingIsProof(situation, now)) {
    const placed = situation.tombstones.filter((at) => at >= ended)
    const firstPlaced = placed[0] ?? now
    if (now < firstPlaced + escalateAfterMs) {
      const since = placed.at(-1)
      const at = since === undefined ? asked : since + backOffMs(placed.length - 1)
      return { kind: 'tombstone', at, why: because.tombstone }
    }
  }
  return {
    kind: 'operator',
    why: because.operator(contract, { couldRepeat: until !== null, asks, accepted }),
  }
}

/**
 * The last moment at which a repeat is duplicate-safe; null when the contract makes no repeat safe (I16), and
 * infinite where no time makes it unsafe.
 */
export function repeatUntil({
  contract,
  attempts,
}: Pick<Situation, 'contract' | 'attempts'>): Instant | null {
  const { idempotency, ordering } = contract
  const first = attempts[0]
  if (first === undefined) return null
  // A condition that was found broken stays broken: perhaps by an earlier attempt, and another try cannot tell.
  const broken = attempts.some(({ outcome }) => outcome === 'fenced')
  if (ordering?.conditional !== undefined && !broken) return Number.POSITIVE_INFINITY
  if (idempotency === undefined || idempotency.replays === 'nothing') return null
  const { remembersFor } = idempotency
  return remembersFor === 'unstated' ? null : first.begunAt + trustedMs(remembersFor)
}

/**
 * True when "not there", asked and answered then, proves that nothing acted or ever will (design.md: absence can be overtaken):
 * late enough that nothing may still land, and early enough that nothing is forgotten yet. A rejected version shows
 * that nothing lands any more, and shortens nothing: no contract says that its lookup sees every act at once, so what
 * acted before may be missing from the answer still.
 */
export function absenceIsFinal(
  { contract, attempts }: Pick<Situation, 'contract' | 'attempts'>,
  { askedAt, answeredAt }: { readonly askedAt: Instant; readonly answeredAt: Instant },
): boolean {
  const { lookup } = contract
  const first = attempts[0]
  if (lookup === undefined || !lookup.absence.final || first === undefined) return false
  const ends = attempts.map((attempt) => attempt.endedAt ?? Number.POSITIVE_INFINITY)
  const remembers = lookup.by === 'key' ? contract.idempotency?.remembersFor : 'forever'
  const knownUntil = first.begunAt + trustedMs(lookup.findsFor ?? remembers)
  return askedAt >= Math.max(...ends) + milliseconds(lookup.absence.after ?? 0) && answeredAt < knownUntil
}

/** True when a key that is closed now provably never acted: what the recipient has forgotten, it closes too. I15. */
export function closingIsProof(
  { contract, attempts }: Pick<Situation, 'contract' | 'attempts'>,
  answeredAt: Instant,
): boolean {
  const first = attempts[0]
  if (contract.ordering?.tombstone === undefined) return false
  return first === undefined || answeredAt < first.begunAt + closableMs(contract)
}

/** What comes at `when` would come past the share `from` of the time in which closing proves something, and now it still does. */
function shouldClose(
  { contract, attempts }: Pick<Situation, 'contract' | 'attempts'>,
  { now, when, from }: { readonly now: Instant; readonly when: Instant; readonly from: number },
): boolean {
  const first = attempts[0]
  if (first === undefined || !closingIsProof({ contract, attempts }, now)) return false
  return when >= first.begunAt + closableMs(contract) * from
}

/** How long after its first attempt closing a key proves something, in milliseconds. */
export function closableMs({ idempotency, ordering }: Contract): number {
  return trustedMs(ordering?.tombstone?.findsFor ?? idempotency?.remembersFor)
}

/** How much of a recipient's memory is relied on, in milliseconds. */
export function trustedMs(remembersFor: Idempotency['remembersFor'] | undefined): number {
  if (remembersFor === undefined || remembersFor === 'unstated') return 0
  return remembersFor === 'forever'
    ? Number.POSITIVE_INFINITY
    : milliseconds(remembersFor) * (1 - retentionMargin)
}

/**
 * Which fact an attempt's outcome is for the whole effect. An answer that proves its own attempt did not act
 * says nothing of an earlier attempt that is still open; only a recipient that stores its first answer,
 * whatever it was, would have replayed the earlier one.
 */
export function factOfAnswer(
  situation: Pick<Situation, 'contract' | 'state' | 'attempts'>,
  answered: number,
  outcome: Pick<Outcome, 'kind' | 'accepted'>,
): Fact {
  if (outcome.kind === 'confirmed') return 'confirmed'
  const { attempts, state, contract } = situation
  if (state === 'attempting' && answered !== attempts.at(-1)?.number) return 'overtaken'
  if (outcome.kind === 'unknown') return outcome.accepted === true ? 'accepted' : 'unclear'
  const othersOpen = attempts.some((attempt) => attempt.number !== answered && attempt.open)
  const speaksForAll = outcome.kind === 'refused' && contract.idempotency?.replays === 'first-answer'
  return othersOpen && !speaksForAll ? 'earlierOpen' : outcome.kind
}

/** What the owner of an effect is told of while the engine goes on with it by itself; null when nothing. */
export function overdue(
  { state, attempts }: Pick<Situation, 'state' | 'attempts'>,
  now: Instant,
): { readonly reason: 'cannot-be-sent' | 'still-unknown'; readonly why: string } | null {
  const first = attempts[0]
  if (first === undefined || isFinalState(state)) return null
  const last = attempts.at(-1)
  if (state === 'planned' && now >= first.begunAt + alertUnsentAfterMs)
    return { reason: 'cannot-be-sent', why: because.stillUnsent(attempts.length, last?.number ?? 1) }
  if (state === 'unknown' && now >= first.begunAt + escalateAfterMs)
    return { reason: 'still-unknown', why: because.stillUnknown(attempts.length) }
  return null
}

/** The recipient's own id of the operation, as its latest answer gave it. */
export function correlationOf(attempts: readonly Pick<PastAttempt, 'correlation'>[]): string | null {
  return attempts.findLast(({ correlation }) => correlation !== null)?.correlation ?? null
}

function backOffMs(tries: number): number {
  return Math.min(backOff.firstMs * 2 ** Math.max(0, Math.min(tries, 30)), backOff.lastMs)
}
