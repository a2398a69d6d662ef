import {
  absenceIsFinal,
  type Contract,
  type EffectState,
  type Fact,
  factOfAnswer,
  type Instant,
  isFinalState,
  type LookupFinding,
  nextStep,
  type Outcome,
  type Step,
  transition,
} from '../domain/index.ts'
import type { AttemptRecord, EffectView, EvidenceRecord, Settlement } from '../store/index.ts'

/** What I/O gathered about one effect. */
export type Learned =
  | { readonly kind: 'answer'; readonly attempt: number; readonly outcome: Outcome }
  | { readonly kind: 'leaseEnded' }
  | { readonly kind: 'lookup'; readonly finding: LookupFinding; readonly askedAt: Instant }
  /** The contract allows nothing more: the owner is told, once. */
  | { readonly kind: 'escalate'; readonly why: string }

export interface Decision {
  readonly settlement: Settlement
  readonly fact: Fact
  readonly state: EffectState
  readonly next: Step
}

/**
 * Facts in, decision out: asks the lifecycle table where the effect goes and the policy when to look again.
 * No I/O, so it can be asked again when someone else moved the effect meanwhile.
 *
 * @param spread 0 to 1: jitter, added to waiting times
 * @returns null when there is nothing to write, because the lifecycle calls the fact illegal now
 */
export function decide(
  effect: EffectView,
  contract: Contract,
  owner: string,
  learned: Learned,
  now: Instant,
  spread: number,
): Decision | null {
  const fact = factOf(effect, contract, learned)
  const step = transition(effect.state, fact)
  if (step.kind === 'illegal') return null
  const state = step.kind === 'moves' ? step.to : effect.state
  const closes = isFinalState(state) || (step.kind === 'moves' && state === 'planned')
  const attempts = effect.attempts.map((attempt) => afterwards(attempt, learned, now, closes))
  const lookups = lookupsOf(effect, learned)
  const next = nextStep({ contract, state, plannedAt: effect.plannedAt, attempts, lookups }, now)
  const disputes = step.kind === 'disputes' || (step.kind === 'moves' && step.disputed)
  const escalates = next.kind === 'operator' && !effect.escalated
  const evidence = evidenceOf(effect, learned, fact)
  const answered = answeredAttempt(effect, learned)
  const alert = alertOf(effect, owner, disputes && !effect.disputed, escalates)
  return {
    fact,
    state,
    next,
    settlement: {
      effect: effect.id,
      expectedVersion: effect.version,
      at: now,
      to: state,
      disputed: effect.disputed || disputes,
      escalated: isFinalState(state) ? false : effect.escalated || escalates,
      dueAt: dueAt(next, now, spread),
      closeAttempts: closes,
      ...(answered === undefined ? {} : { attempt: answered }),
      ...(evidence === undefined ? {} : { evidence }),
      ...(alert === undefined ? {} : { alert }),
    },
  }
}

function factOf(effect: EffectView, contract: Contract, learned: Learned): Fact {
  switch (learned.kind) {
    case 'answer':
      return factOfAnswer(
        { contract, state: effect.state, attempts: effect.attempts },
        learned.attempt,
        learned.outcome,
      )
    case 'leaseEnded':
      return 'leaseEnded'
    case 'escalate':
      return 'nothingProven'
    case 'lookup':
      if (learned.finding.kind === 'acted') return 'foundActed'
      if (learned.finding.kind === 'refused') return 'foundRefused'
      return learned.finding.kind === 'absent' &&
        absenceIsFinal({ contract, attempts: effect.attempts }, learned.askedAt)
        ? 'absenceFinal'
        : 'nothingProven'
  }
}

/** The attempt as it stands once this is written. */
function afterwards(attempt: AttemptRecord, learned: Learned, now: Instant, closes: boolean): AttemptRecord {
  const inFlight = attempt.outcome === null
  if (learned.kind === 'answer' && learned.attempt === attempt.number) {
    const { kind, retryAfterMs } = learned.outcome
    return {
      ...attempt,
      outcome: kind,
      endedAt: attempt.endedAt ?? now,
      open: !closes && kind === 'unknown',
      retryAfterMs: retryAfterMs ?? null,
    }
  }
  if (learned.kind === 'leaseEnded' && inFlight)
    return { ...attempt, outcome: 'unknown', endedAt: now, open: !closes }
  return closes ? { ...attempt, open: false } : attempt
}

function answeredAttempt(effect: EffectView, learned: Learned): Settlement['attempt'] {
  if (learned.kind === 'answer') {
    const { outcome } = learned
    const known = effect.attempts.find((attempt) => attempt.number === learned.attempt)
    if (known !== undefined && known.outcome !== null && known.outcome !== 'unknown') return undefined
    return {
      number: learned.attempt,
      outcome: outcome.kind,
      why: outcome.why,
      status: outcome.status ?? null,
      correlation: outcome.correlation ?? null,
      retryAfterMs: outcome.retryAfterMs ?? null,
    }
  }
  const inFlight = effect.attempts.find((attempt) => attempt.outcome === null)
  if (learned.kind !== 'leaseEnded' || inFlight === undefined) return undefined
  return {
    number: inFlight.number,
    outcome: 'unknown',
    why: leaseWhy,
    status: null,
    correlation: null,
    retryAfterMs: null,
  }
}

const leaseWhy = 'its lease ended before an answer was recorded'

/** The first answer of the attempt in flight is kept with the attempt; everything else is evidence of its own. */
function evidenceOf(effect: EffectView, learned: Learned, fact: Fact): Settlement['evidence'] {
  const about = { fact, from: effect.state, by: 'engine', attempt: null, status: null, correlation: null }
  switch (learned.kind) {
    case 'answer': {
      const { outcome } = learned
      const known = effect.attempts.find((attempt) => attempt.number === learned.attempt)
      if (known?.outcome === null) return undefined
      const { why, status, correlation } = outcome
      return {
        ...about,
        kind: 'late-answer',
        attempt: learned.attempt,
        why,
        status: status ?? null,
        correlation: correlation ?? null,
      }
    }
    case 'leaseEnded':
      return { ...about, kind: 'lease', attempt: effect.attempts.at(-1)?.number ?? null, why: leaseWhy }
    case 'escalate':
      return { ...about, kind: 'escalation', why: learned.why }
    case 'lookup': {
      const { why, status, correlation } = learned.finding
      const hint =
        learned.finding.kind === 'absent' && fact === 'nothingProven' ? `${why}, which is not final yet` : why
      return { ...about, kind: 'lookup', why: hint, status: status ?? null, correlation: correlation ?? null }
    }
  }
}

function lookupsOf(effect: EffectView, learned: Learned): Instant[] {
  const made = lookupTimes(effect.evidence)
  return learned.kind === 'lookup' ? [...made, learned.askedAt] : made
}

/** When lookups were made, oldest first. */
export function lookupTimes(evidence: readonly EvidenceRecord[]): Instant[] {
  return evidence.filter((entry) => entry.kind === 'lookup').map((entry) => entry.at)
}

function alertOf(
  effect: EffectView,
  owner: string,
  disputed: boolean,
  escalates: boolean,
): Settlement['alert'] {
  if (disputed) return { reason: 'disputed', owner }
  return escalates && effect.state !== 'planned' ? { reason: 'unknown-needs-a-decision', owner } : undefined
}

function dueAt(next: Step, now: Instant, spread: number): Settlement['dueAt'] {
  if (next.kind === 'wait') return 'unchanged'
  if (next.kind === 'operator' || next.kind === 'done') return null
  const wait = Math.max(0, next.at - now)
  return Math.round(now + wait + wait * 0.2 * spread)
}
