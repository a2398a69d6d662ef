import type { Contract, Instant } from '../../packages/counterfoil/src/domain/index.ts'
import type { EffectView, EvidenceRecord } from '../../packages/counterfoil/src/store/index.ts'

const second = 1_000
const hour = 3_600 * second

/** How long a lease lasts in the model. */
export const leaseMs = 30 * second

/** After which absence is final, in every contract that has it. */
export const absenceMs = 30 * second

/**
 * The moments at which things happen, so that every limit of the contract has some on each side: the lease (30 s) and the
 * waits after an attempt (1 s and more); the time after which absence is final (30 s); the last moment at which a key that
 * is remembered for 24 h is relied on (21.6 h), a moment from which a stalled request lands after its end, and that end,
 * which is the engine's patience too.
 */
export function momentsOf({ idempotency, lookup }: Contract): readonly Instant[] {
  if (lookup?.absence.final === true) return moments.finalAbsence
  return idempotency === undefined ? moments.noMemory : moments.memory
}

const moments = {
  noMemory: [0, 40 * second, 25 * hour],
  memory: [0, 40 * second, 21 * hour, 23 * hour, 25 * hour],
  finalAbsence: [0, 20 * second, 40 * second, 21 * hour, 23 * hour, 25 * hour],
} as const
export const lastMoment = 25 * hour

/** The first moment at or after `at`: what is due between two moments is due at the later one. */
export function momentAfter(at: Instant, contract: Contract): Instant {
  return at > lastMoment ? at : momentsOf(contract).find((moment) => moment >= at)!
}

/** Before this, every key that was ever sent is relied on. */
export const farAway = 21 * hour

/** Longer ago than every wait that is counted from an attempt's end. */
const longAgoMs = 1_000 * second
const longAgo = 100 * second

/**
 * Takes out of an effect what no rule reads any more, and makes alike what no rule tells apart, so that states which
 * have the same future are one.
 */
export function tidy(effect: EffectView, now: Instant, contract: Contract): EffectView {
  if (tidyAt.get(effect) === now) return effect
  const tidied = tidiedRow(effect, now, contract)
  tidyAt.set(tidied, now)
  return tidied
}

const tidyAt = new WeakMap<EffectView, Instant>()

function tidiedRow(effect: EffectView, now: Instant, contract: Contract): EffectView {
  const { attempts, dueAt, state } = effect
  const last = attempts.length - 1
  if (isFinal(state)) {
    const ended = attempts.map((attempt) => ({ ...attempt, begunAt: 0, endedAt: attempt.endedAt && 0 }))
    return { ...effect, changedAt: 0, attempts: ended, evidence: tidyEvidence(effect) }
  }
  // Where absence is never final, the end of an attempt only says when to ask; its beginning may stand for it.
  const endsCount = contract.lookup?.absence.final === true
  const endOf = (at: Instant, begunAt: Instant) => (endsCount ? roughly(at, begunAt, now) : begunAt)
  return {
    ...effect,
    changedAt: 0,
    dueAt: dueAt === null ? null : dueAt <= now ? 0 : momentAfter(dueAt, contract),
    attempts: attempts.map((attempt, index) => ({
      ...attempt,
      begunAt: index > 0 && index < last && !attempt.open ? 0 : attempt.begunAt,
      endedAt: attempt.endedAt === null ? null : endOf(attempt.endedAt, attempt.begunAt),
    })),
    evidence: tidyEvidence(effect),
  }
}

/**
 * Waits between questions do not grow here: only the last is kept, as of the attempt's end. To ask late is among what a worker may do in any
 * case, so this leaves no way out.
 */
function tidyEvidence({ attempts, evidence, state }: EffectView): EvidenceRecord[] {
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
      kept.push({ ...entry, at: ended })
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

function roughly(at: Instant, begunAt: Instant, now: Instant): Instant {
  return at <= now - longAgoMs ? Math.max(longAgo, begunAt) : at
}

export function isFinal(state: EffectView['state']): boolean {
  return state === 'confirmed' || state === 'refused' || state === 'fenced' || state === 'withdrawn'
}
