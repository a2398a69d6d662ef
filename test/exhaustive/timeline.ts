import type { Contract, Instant } from '../../packages/counterfoil/src/domain/index.ts'
import type { EffectView } from '../../packages/counterfoil/src/store/index.ts'

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

export function isFinal(state: EffectView['state']): boolean {
  return state === 'confirmed' || state === 'refused' || state === 'fenced' || state === 'withdrawn'
}
