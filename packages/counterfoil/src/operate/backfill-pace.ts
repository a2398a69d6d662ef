import type { Counterfoil } from '../counterfoil.ts'

/**
 * Receipts that may wait for their plan, and effects for their first attempt, before a backfill adds to them. Few:
 * what waits together is planned together, in one transaction that live deliveries wait for.
 */
export const maxWaiting = 50
/** Time that is left to others after each chunk, as a multiple of what it took: planning it takes as long again. */
const restShare = 4
/** Receipts beyond which it waits even when nobody seems to plan: live deliveries are refused long after that. */
export const maxUnplanned = 50_000
const lookMs = 50
/** Looks without progress after which nobody seems to work here. */
const maxLooks = 20

/**
 * How fast a backfill goes: at its rate, and behind live traffic. It takes a fifth of the store's time at most, and
 * nothing at all while work waits.
 */
export class Pace {
  readonly #app: Counterfoil
  readonly #goesOn: () => boolean
  readonly #rate: number | null
  #nextAt: number
  #lookedAt = Number.NEGATIVE_INFINITY
  /** Since nothing was worked off: how much waited. */
  #stuckAt = Number.POSITIVE_INFINITY

  /** @param goesOn asked while it waits: false ends the wait */
  constructor(app: Counterfoil, rate: number | null, goesOn: () => boolean) {
    this.#app = app
    this.#rate = rate
    this.#goesOn = goesOn
    this.#nextAt = app.clock.now()
  }

  /** Before the next chunk. @param items in it */
  async turn(items: number): Promise<void> {
    await this.#giveWay()
    const { clock } = this.#app
    while (this.#goesOn() && clock.now() < this.#nextAt) {
      await this.wait(Math.min(this.#nextAt - clock.now(), lookMs))
    }
    if (this.#rate === null) return
    this.#nextAt = Math.max(this.#nextAt, clock.now() - lookMs) + (items * 1_000) / this.#rate
  }

  /** After a chunk that it took so long to prepare and to keep. */
  async rest(tookMs: number): Promise<void> {
    await this.wait(Math.min(tookMs * restShare, 1_000))
  }

  async wait(ms: number): Promise<void> {
    await new Promise<void>((resolve) => this.#app.clock.after(ms, resolve))
  }

  async #giveWay(): Promise<void> {
    if (this.#app.clock.now() < this.#lookedAt + lookMs) return
    let least = Number.POSITIVE_INFINITY
    for (let looks = 0; this.#goesOn(); looks++) {
      const { receipts, effects } = await this.#app.store.status()
      this.#lookedAt = this.#app.clock.now()
      const unplanned = receipts.byState.accepted
      const waiting = Math.max(unplanned, effects.byState.planned)
      if (waiting <= maxWaiting) {
        this.#stuckAt = Number.POSITIVE_INFINITY
        return
      }
      if (waiting < least) looks = 0
      least = Math.min(least, waiting)
      const nobodyWorks = looks >= maxLooks || waiting > this.#stuckAt
      if (nobodyWorks && unplanned < maxUnplanned) {
        this.#stuckAt = least
        return
      }
      await this.wait(lookMs)
    }
  }
}
