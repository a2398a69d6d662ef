import type { Contract, Instant } from '../../packages/counterfoil/src/domain/index.ts'
import type { Learned } from '../../packages/counterfoil/src/engine/decide.ts'
import type { AttemptRecord, EffectView, EvidenceRecord } from '../../packages/counterfoil/src/store/index.ts'
import type { Scene } from './scene.ts'
import type { Call, Doing, State, Worker } from './state.ts'
import { absenceMs, isFinal, momentAfter } from './timeline.ts'

/**
 * Takes out of a state what no rule reads any more, and makes alike what no rule tells apart, so that states which have
 * the same future are one.
 *
 * @param from the tidy state before the move; what the move did not touch stays the very same value
 */
export function tidied({ shape }: Scene, from: State, state: State): State {
  const { now, far, effects } = state
  const { contract } = shape
  const wire = tidyWire(state)
  const [one, other] = state.workers
  const workers = [
    tidyWorker(contract, effects, wire, one),
    tidyWorker(contract, effects, wire, other),
  ] as const
  const isSame = (place: number) =>
    effects[place] === from.effects[place] &&
    now === from.now &&
    awaited(workers, place) === awaited(from.workers, place)
  const rows = effects.map((effect, place) =>
    effect === null || isSame(place) ? effect : tidyRow(effect, awaited(workers, place), now, contract),
  )
  return { now, events: state.events, effects: rows, workers, wire, far }
}

/** While its key is remembered a copy does nothing, and it is remembered for longer than a copy can be on its way. */
function tidyWire({ wire, far }: State): State['wire'] {
  const isVain = ({ copy, effect }: State['wire'][number]) => copy && far.keys[effect] !== null
  return wire.some(isVain) ? wire.filter((request) => !isVain(request)) : wire
}

/** Without calls whose answer cannot come, and times that can make no difference. */
function tidyWorker(
  contract: Contract,
  effects: State['effects'],
  wire: State['wire'],
  worker: Worker,
): Worker {
  const isVain = ({ effect, attempt, answer, late }: Call) =>
    late &&
    answer === null &&
    !wire.some((one) => !one.copy && one.effect === effect && one.attempt === attempt)
  const calls = worker.calls.some(isVain) ? worker.calls.filter((call) => !isVain(call)) : worker.calls
  const doing = tidyQuestion(contract, effects, worker.doing)
  return calls === worker.calls && doing === worker.doing ? worker : { doing, calls }
}

/**
 * Of the time of a question only this counts: whether it came late enough after the attempts that had ended then. Ends
 * only move on, so what came too early always will have.
 */
function tidyQuestion(contract: Contract, effects: State['effects'], doing: Doing): Doing {
  const question = doing.kind === 'telling' ? doing.learned : doing
  if (doing.kind === 'idle' || !('askedAt' in question) || question.askedAt === 0) return doing
  const finding = 'finding' in question ? question.finding.kind : 'absent'
  const what = 'what' in question ? question.what : question.kind
  const ends = effects[doing.effect]!.attempts.map(({ endedAt }) => endedAt ?? Number.POSITIVE_INFINITY)
  const isFinalAbsence =
    what === 'lookup' &&
    contract.lookup?.absence.final === true &&
    finding === 'absent' &&
    question.askedAt >= Math.max(...ends) + absenceMs
  if (isFinalAbsence) return doing
  if (doing.kind === 'asking') return { ...doing, askedAt: 0 }
  if (doing.kind !== 'telling') return doing
  return { ...doing, learned: { ...doing.learned, askedAt: 0 } as Learned }
}

/** The attempts, as bits, of which somebody may still tell, and compares what is written with it. */
function awaited(workers: State['workers'], effect: number): number {
  let attempts = 0
  for (const { doing, calls } of workers) {
    for (const call of calls) if (call.effect === effect) attempts |= 1 << call.attempt
    if (doing.kind === 'telling' && doing.effect === effect && doing.learned.kind === 'answer')
      attempts |= 1 << doing.learned.attempt
  }
  return attempts
}

/** Longer ago than every wait that is counted from an attempt's end. */
const longAgoMs = 1_000_000

/** An end that nothing is counted from any more is as good as the beginning: to be later would have questions come too early. */
function roughly(endedAt: Instant, begunAt: Instant, now: Instant): Instant {
  return endedAt <= now - longAgoMs ? begunAt : endedAt
}

function tidyRow(effect: EffectView, awaitedOnes: number, now: Instant, contract: Contract): EffectView {
  const { attempts, dueAt, state } = effect
  const last = attempts.length - 1
  const isOver = isFinal(state)
  // Where absence is never final, the end of an attempt only says when to ask; its beginning may stand for it.
  const endsCount = contract.lookup?.absence.final === true
  const tidyAttempt = (attempt: AttemptRecord, index: number): AttemptRecord => {
    const { begunAt, endedAt, open, number } = attempt
    const isRead = (awaitedOnes & (1 << number)) !== 0
    const told = { status: isRead ? attempt.status : null, why: isRead ? attempt.why : null }
    if (isOver) return { ...attempt, ...told, begunAt: 0, endedAt: endedAt && 0 }
    return {
      ...attempt,
      ...told,
      begunAt: index > 0 && index < last && !open ? 0 : begunAt,
      endedAt: endedAt === null ? null : endsCount ? roughly(endedAt, begunAt, now) : begunAt,
    }
  }
  const tidyOnes = attempts.map(tidyAttempt)
  return {
    ...effect,
    changedAt: 0,
    dueAt: isOver || dueAt === null ? dueAt : dueAt <= now ? 0 : momentAfter(dueAt, contract),
    attempts: tidyOnes,
    evidence: tidyEvidence(effect, tidyOnes.at(-1)?.endedAt ?? 0),
  }
}

/**
 * Waits between questions do not grow here: only the last is kept, as of the attempt's end. To ask late is among what a worker may do in any
 * case, so this leaves no way out.
 */
function tidyEvidence({ attempts, evidence, state }: EffectView, tidyEnd: Instant): EvidenceRecord[] {
  if (isFinal(state)) {
    const proof = evidence.find(({ to }) => to === state)
    return proof === undefined ? [] : [{ ...proof, at: 0 }]
  }
  const last = attempts.at(-1)
  if (last === undefined) return []
  const ended = last.endedAt ?? last.begunAt
  let accepted = false
  const told = new Set<string>()
  const kept: EvidenceRecord[] = []
  const lookup = evidence.findLast(({ kind, at }) => kind === 'lookup' && at >= ended)
  const closings = evidence.filter(({ kind, at }) => kind === 'tombstone' && at >= ended)
  for (const entry of evidence) {
    const { kind, at, fact, why } = entry
    const says = fact === 'accepted' && at >= last.begunAt
    if (entry === lookup) {
      kept.push({ ...entry, at: last.endedAt === null ? ended : tidyEnd })
      accepted ||= says
    } else if (entry === closings[0] || entry === closings.at(-1)) {
      kept.push(entry)
    } else if (says && !accepted) {
      kept.push({ ...entry, kind: 'acceptance', at: last.begunAt })
      accepted = true
    } else if (kind === 'escalation' && notice.test(why) && !told.has(why)) {
      kept.push({ ...entry, at: 0 })
      told.add(why)
    }
  }
  return kept
}

/** What the owner is told while the engine goes on. */
const notice = /^[a-z-]+: /
