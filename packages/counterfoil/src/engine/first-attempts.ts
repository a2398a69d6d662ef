import type { WorkerId } from '../domain/index.ts'
import { attempting, begunAttempt, type EffectWork, type NewEffect, type Planned } from '../store/index.ts'
import type { Place } from './places.ts'

/** The dispatcher, as plans see it. */
export interface FirstPlaces {
  readonly worker: WorkerId
  readonly leaseMs: number
  /** A place for an effect that is not planned yet; null where others go first. */
  reserve(recipient: string): Place | null
  run(work: EffectWork, place: Place): void
}

/**
 * The attempts that begin in the commit of their plan: design decisions 2 and 3 in one transaction, so that an event
 * on an idle system is two commits away from its effect. A place is kept for each until the plan is written.
 */
export class FirstAttempts {
  readonly #places: FirstPlaces
  #kept: { readonly effect: NewEffect; readonly place: Place | null }[] = []

  constructor(places: FirstPlaces) {
    this.#places = places
  }

  /** The effects of a plan, those with a place marked. A plan that is written again gives its places back first. */
  prepare(effects: readonly NewEffect[]): NewEffect[] {
    this.release()
    const { worker, leaseMs } = this.#places
    this.#kept = effects.map((effect) => ({ effect, place: this.#places.reserve(effect.recipient) }))
    return this.#kept.map(({ effect, place }) =>
      place === null ? effect : { ...effect, begin: { worker, leaseMs } },
    )
  }

  /** Runs what the committed plan began. @returns recipients of effects that it created and left due */
  run(planned: Planned): string[] {
    const kept = this.#kept.splice(0)
    const due: string[] = []
    for (const [index, { effect, place }] of kept.entries()) {
      const created = planned.kind === 'planned' && planned.effects[index]?.created === true
      if (created && place !== null) this.#places.run(this.#workOf(effect), place)
      else place?.leave()
      if (created && place === null) due.push(effect.recipient)
    }
    return due
  }

  /** Nothing was begun, as far as is known: a lease that was written after all ends by itself. */
  release(): void {
    for (const { place } of this.#kept.splice(0)) place?.leave()
  }

  #workOf({ trigger: _, request, ...record }: NewEffect): EffectWork {
    const { worker, leaseMs } = this.#places
    const at = record.plannedAt
    return {
      kind: 'attempt',
      effect: {
        ...record,
        state: attempting,
        version: 2,
        disputed: false,
        escalated: false,
        changedAt: at,
        dueAt: at + leaseMs,
        attempts: [begunAttempt(1, at, worker)],
        evidence: [],
      },
      attempt: 1,
      request,
    }
  }
}
