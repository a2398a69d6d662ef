import type { Counterfoil } from '../../counterfoil.ts'
import { type Contract, nextStep, retentionMargin, type Situation } from '../../domain/index.ts'
import type { Recipient } from '../../recipients/index.ts'
import type { Finding } from './finding.ts'

/** How long a recipient, or the way to it, may be away while an answer is missing: an ordinary outage. */
export const defaultOutageMs = 3_600_000

/**
 * Asks the engine's own policy what is left to do when the answer to an attempt was lost and its recipient was away for
 * `outageMs`: a person, where it forgets its keys sooner and tells nothing.
 */
export function findInRetention(app: Counterfoil<any>, outageMs: number): Finding[] {
  return [...app.recipients.values()].flatMap((recipient) => {
    const { name, contract, timeoutMs } = recipient
    const { idempotency } = contract
    if (idempotency === undefined || idempotency.replays === 'nothing') return []
    const { remembersFor } = idempotency
    if (remembersFor === 'forever' || remembersFor === 'unstated') return []
    if (stepAfter(recipient, outageMs).kind !== 'operator') return []
    const needMs = (timeoutMs + outageMs) / (1 - retentionMargin)
    return [
      {
        kind: 'retention-too-short' as const,
        where: `recipient '${name}'`,
        says: `it remembers keys for ${remembersFor}. When an answer is lost and it is away for ${words(outageMs)}, no repeat is safe any more, and nothing else can tell what became of the effect: a person has to decide`,
        change: `Ask for keys that are remembered for at least ${words(needMs)} (time-out, outage, and the tenth that is never used), or give the contract a lookup or a tombstone that lasts as long.`,
      },
    ]
  })
}

/** One attempt whose answer was lost, and nobody answered since. */
function stepAfter({ contract, timeoutMs }: Recipient, outageMs: number) {
  const situation: Situation = {
    contract: contract as Contract,
    state: 'unknown',
    plannedAt: 0,
    attempts: [
      {
        number: 1,
        begunAt: 0,
        endedAt: timeoutMs,
        outcome: 'unknown',
        open: true,
        retryAfterMs: null,
        correlation: null,
      },
    ],
    // It was asked, and did not answer.
    lookups: [timeoutMs + 1_000],
    tombstones: [],
    accepted: false,
  }
  return nextStep(situation, timeoutMs + outageMs)
}

function words(ms: number): string {
  const minutes = Math.ceil(ms / 60_000)
  return minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 6) / 10} h`
}
