import {
  absenceIsFinal,
  type Contract,
  closingIsProof,
  type EffectState,
  type Fact,
  factOfAnswer,
  type Instant,
  isFinalState,
  type LookupFinding,
  nextStep,
  type Outcome,
  overdue,
  type Situation,
  type Step,
  type TombstoneFinding,
  transition,
} from '../domain/index.ts'
import type { AttemptRecord, EffectView, Settlement } from '../store/index.ts'
import { situationOf } from './situation.ts'

/** What I/O gathered about one effect. */
export type Learned =
  | { readonly kind: 'answer'; readonly attempt: number; readonly outcome: Outcome }
  | { readonly kind: 'leaseEnded' }
  | (Asked & { readonly kind: 'lookup'; readonly finding: LookupFinding })
  | (Asked & { readonly kind: 'tombstone'; readonly finding: TombstoneFinding })
  /** A person decides, with evidence. */
  | {
      readonly kind: 'operator'
      readonly fact: OperatorFact
      readonly why: string
      /** The recipient's own id of the operation, where the evidence names it. */
      readonly correlation: string | null
      readonly by: string
    }
  /** The contract allows nothing more: the owner is told, once. */
  | { readonly kind: 'escalate'; readonly why: string }

/** Between the two the recipient answered: what it may have forgotten at the end proves nothing, however early it was asked. */
interface Asked {
  readonly askedAt: Instant
  readonly answeredAt: Instant
  /** The operator who had it asked; absent when the engine did. */
  readonly by?: string
}

export type OperatorFact = Extract<Fact, `operator${string}`>

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
  const situation = afterwards(situationOf(contract, effect), state, learned, fact, now, closes)
  const next = nextStep(situation, now)
  const disputes = step.kind === 'disputes' || (step.kind === 'moves' && step.disputed)
  const escalates = next.kind === 'operator' && !effect.escalated
  const notice = noticeOf(effect, situation, learned, next, now)
  const evidence = evidenceOf(effect, learned, fact) ?? noticeEvidence(effect, fact, notice)
  const answered = answeredAttempt(effect, learned)
  const reason = alertReason({
    disputes: disputes && !effect.disputed,
    escalates: escalates && effect.state !== 'planned',
    withdraws: fact === 'tombstoned' && step.kind === 'moves',
    notice,
  })
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
      ...(reason === undefined ? {} : { alert: { reason, owner } }),
    },
  }
}

function factOf({ state, attempts }: EffectView, contract: Contract, learned: Learned): Fact {
  switch (learned.kind) {
    case 'answer':
      return factOfAnswer({ contract, state, attempts }, learned.attempt, learned.outcome)
    case 'leaseEnded':
      return 'leaseEnded'
    case 'escalate':
      return 'nothingProven'
    case 'operator':
      return learned.fact
    case 'tombstone': {
      const { kind } = learned.finding
      if (kind === 'closed')
        return closingIsProof({ contract, attempts }, learned.answeredAt) ? 'tombstoned' : 'nothingProven'
      return ({ acted: 'foundActed', refused: 'foundRefused', nothing: 'nothingProven' } as const)[kind]
    }
    case 'lookup': {
      if (learned.finding.kind === 'absent')
        return absenceIsFinal({ contract, attempts }, learned) ? 'absenceFinal' : 'nothingProven'
      const told = {
        acted: 'foundActed',
        refused: 'foundRefused',
        pending: 'accepted',
        nothing: 'nothingProven',
      } as const
      return told[learned.finding.kind]
    }
  }
}

/** The situation as it stands once this is written. */
function afterwards(
  before: Situation,
  state: EffectState,
  learned: Learned,
  fact: Fact,
  now: Instant,
  closes: boolean,
): Situation {
  return {
    ...before,
    state,
    attempts: (before.attempts as readonly AttemptRecord[]).map((attempt) =>
      endOf(attempt, learned, now, closes),
    ),
    lookups: learned.kind === 'lookup' ? [...before.lookups, learned.askedAt] : before.lookups,
    tombstones: learned.kind === 'tombstone' ? [...before.tombstones, learned.askedAt] : before.tombstones,
    accepted: before.accepted || fact === 'accepted',
  }
}

/** The attempt as it stands once this is written. */
function endOf(attempt: AttemptRecord, learned: Learned, now: Instant, closes: boolean): AttemptRecord {
  const inFlight = attempt.outcome === null
  if (learned.kind === 'answer' && learned.attempt === attempt.number) {
    const { kind, retryAfterMs, correlation } = learned.outcome
    return {
      ...attempt,
      outcome: kind,
      // Its process was paused rather than dead, and may have sent as late as this: absence is counted from here.
      endedAt: Math.max(attempt.endedAt ?? now, now),
      open: !closes && kind === 'unknown',
      retryAfterMs: retryAfterMs ?? null,
      correlation: correlation ?? attempt.correlation,
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
      correlation: outcome.correlation ?? known?.correlation ?? null,
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
      const late = known?.outcome !== null
      if (!late && outcome.accepted !== true) return undefined
      const kind = late ? 'late-answer' : 'acceptance'
      return { ...about, kind, attempt: learned.attempt, ...saidBy(outcome) }
    }
    case 'leaseEnded':
      return { ...about, kind: 'lease', attempt: effect.attempts.at(-1)?.number ?? null, why: leaseWhy }
    case 'escalate':
      return { ...about, kind: 'escalation', why: learned.why }
    case 'operator': {
      const { why, correlation, by } = learned
      return { ...about, kind: 'operator', why, correlation, by }
    }
    case 'tombstone':
      return { ...about, kind: 'tombstone', ...saidBy(learned.finding), by: learned.by ?? about.by }
    case 'lookup': {
      const said = saidBy(learned.finding)
      const hints = learned.finding.kind === 'absent' && fact === 'nothingProven'
      return {
        ...about,
        kind: 'lookup',
        ...said,
        by: learned.by ?? about.by,
        why: hints ? `${said.why}, which is not final now` : said.why,
      }
    }
  }
}

function saidBy({ why, status, correlation }: Pick<Outcome, 'why' | 'status' | 'correlation'>) {
  return { why, status: status ?? null, correlation: correlation ?? null }
}

/** One settlement raises one alert: the gravest. */
function alertReason(about: {
  readonly disputes: boolean
  readonly escalates: boolean
  readonly withdraws: boolean
  readonly notice: Notice | undefined
}): string | undefined {
  if (about.disputes) return 'disputed'
  if (about.escalates) return 'unknown-needs-a-decision'
  return about.withdraws ? 'withdrawn-by-tombstone' : about.notice?.reason
}

interface Notice {
  readonly reason: string
  readonly why: string
}

/** What the owner is told, once, while the engine goes on by itself. */
function noticeOf(
  effect: EffectView,
  situation: Situation,
  learned: Learned,
  next: Step,
  now: Instant,
): Notice | undefined {
  if (learned.kind !== 'answer' || next.kind === 'operator') return undefined
  const { alert: reason, why, toldAsWhole } = learned.outcome
  if (reason === undefined && toldAsWhole === true) return undefined
  const notice = reason === undefined ? overdue(situation, now) : { reason, why }
  const told = effect.evidence.some(
    (entry) => entry.kind === 'escalation' && entry.why.startsWith(`${notice?.reason}:`),
  )
  return notice === null || told ? undefined : notice
}

function noticeEvidence(effect: EffectView, fact: Fact, notice: Notice | undefined): Settlement['evidence'] {
  if (notice === undefined) return undefined
  const about = { fact, from: effect.state, by: 'engine', attempt: null, status: null, correlation: null }
  return { ...about, kind: 'escalation', why: `${notice.reason}: ${notice.why}` }
}

function dueAt(next: Step, now: Instant, spread: number): Settlement['dueAt'] {
  if (next.kind === 'wait') return 'unchanged'
  if (next.kind === 'operator' || next.kind === 'done') return null
  const wait = Math.max(0, next.at - now)
  return Math.round(now + wait + wait * 0.2 * spread)
}
