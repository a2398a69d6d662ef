import type { Clock, Instant } from '../domain/index.ts'

/** The store is asked at most once in this time, while deliveries come. */
const askMs = 1_000

/**
 * Are so many receipts waiting for their plan that no more should be taken? Asks the store now and then, beside the
 * deliveries and never in their way: what one answer lets in until the next goes beyond the limit.
 */
export class Backlog {
  readonly #ask: () => Promise<number>
  readonly #limit: number
  readonly #clock: Clock
  #askedAt: Instant | null = null
  #isFull = false

  constructor(ask: () => Promise<number>, limit: number, clock: Clock) {
    this.#ask = ask
    this.#limit = limit
    this.#clock = clock
  }

  isFull(): boolean {
    const now = this.#clock.now()
    // A clock that was set back asks at once.
    if (this.#askedAt === null || now >= this.#askedAt + askMs || now < this.#askedAt) {
      this.#askedAt = now
      this.#ask().then(
        (waiting) => {
          this.#isFull = waiting >= this.#limit
        },
        // A store that does not answer refuses the delivery itself.
        () => {},
      )
    }
    return this.#isFull
  }
}
