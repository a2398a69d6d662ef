import type { Clock } from '../domain/index.ts'

export interface Rate {
  /** Deliveries a second, over time. */
  readonly perSecond: number
  /** Deliveries that may come at once after a quiet time. Default: those of one second, at least 1. */
  readonly burst?: number
}

/**
 * A token bucket. Asking and taking are apart: only verified deliveries take, so a stranger cannot use up what
 * is meant for the sender. Deliveries that are in work at once may overdraw it; later ones wait for that.
 */
export class TokenBucket {
  readonly #perMs: number
  readonly #burst: number
  readonly #clock: Clock
  #tokens: number
  #filledAt: number

  constructor({ perSecond, burst = Math.max(1, perSecond) }: Rate, clock: Clock) {
    this.#perMs = perSecond / 1000
    this.#burst = burst
    this.#clock = clock
    this.#tokens = burst
    this.#filledAt = clock.now()
  }

  /** Milliseconds until the next one may come; 0: now. */
  wait(): number {
    this.#fill()
    return this.#tokens >= 1 ? 0 : Math.ceil((1 - this.#tokens) / this.#perMs)
  }

  take(): void {
    this.#tokens--
  }

  /** A clock that was set back fills nothing, and is believed from then on. */
  #fill(): void {
    const now = this.#clock.now()
    const elapsed = Math.max(0, now - this.#filledAt)
    this.#filledAt = now
    this.#tokens = Math.min(this.#burst, this.#tokens + elapsed * this.#perMs)
  }
}
