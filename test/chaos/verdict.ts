import { violationsOf } from 'counterfoil/testing'
import type { Fleet } from './fleet.ts'
import { historyOf, referee } from './history.ts'
import type { Load } from './load.ts'
import type { Place } from './places.ts'

export interface Verdict {
  /** One sentence each; none when all holds. */
  readonly violations: readonly string[]
  readonly acknowledged: number
  readonly arrivals: number
  readonly acts: number
}

/**
 * Holds the records of a quiet system against all that was acknowledged, sent and done. The recipients are believed,
 * the ledger is not.
 */
export async function verdict(place: Place, fleet: Fleet, load: Load, seed: number): Promise<Verdict> {
  const seen = referee(fleet.recipientFile)
  const store = await place.open()
  try {
    const history = await historyOf(store, fleet, load, seen, seed)
    const broken = violationsOf(history).map(
      ({ invariant, about, says }) => `${invariant}: ${about}: ${says}`,
    )
    const effects = new Set(history.records.effects.map(({ recipient, key }) => `${recipient} ${key}`))
    const orders = [...load.orders.values()]
    const missing = orders.filter(({ shape, reference }) => !effects.has(`${shape} ${reference}`))
    const plans = await place.plans()
    return {
      acknowledged: load.acknowledged.length,
      arrivals: seen.arrivals.length,
      acts: seen.acts.length,
      violations: [
        ...load.wrong,
        ...broken,
        ...(await place.faults()),
        ...missing.map(({ reference }) => `I3: ${reference} was ordered and acknowledged, and is no effect`),
        ...differs('I6: effects', effects.size, orders.length),
        ...differs('I3: rows of the program', plans, load.plans),
      ],
    }
  } finally {
    await store.close()
  }
}

function differs(what: string, found: number, wanted: number): string[] {
  return found === wanted ? [] : [`${what}: there are ${found}, and the deliveries make ${wanted}`]
}
