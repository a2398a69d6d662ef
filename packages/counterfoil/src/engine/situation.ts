import type { Contract, Instant, Situation } from '../domain/index.ts'
import type { EffectView, EvidenceRecord } from '../store/index.ts'

/** What the policy reads of an effect in the ledger. */
export function situationOf(contract: Contract, effect: EffectView): Situation {
  const { state, plannedAt, attempts, evidence } = effect
  const begunAt = attempts.at(-1)?.begunAt ?? plannedAt
  return {
    contract,
    state,
    plannedAt,
    attempts,
    lookups: timesOf(evidence, 'lookup'),
    tombstones: timesOf(evidence, 'tombstone'),
    accepted: evidence.some(({ fact, at }) => fact === 'accepted' && at >= begunAt),
  }
}

/** Oldest first. */
function timesOf(evidence: readonly EvidenceRecord[], kind: EvidenceRecord['kind']): Instant[] {
  return evidence.filter((entry) => entry.kind === kind).map((entry) => entry.at)
}
