/** Effects in hand at most, for each call at once: a store that settles slowly holds back the next ones. */
export const heldPerCall = 4

/** The places of one recipient. One comes free when its call has ended, not only when the store has settled it. */
export class Places {
  /** Calls at once. */
  readonly all: number
  #calls = 0
  #held = 0

  constructor(all: number) {
    this.all = all
  }

  /** Effects that may be taken now. */
  get free(): number {
    return Math.max(0, Math.min(this.all - this.#calls, this.all * heldPerCall - this.#held))
  }

  /** Nobody takes them until they are given back: a claim asks for so many and may get fewer. */
  keep(count: number): void {
    this.#calls += count
    this.#held += count
  }

  giveBack(count: number): void {
    this.keep(-count)
  }

  take(): Place {
    this.#calls++
    this.#held++
    let calls = true
    const callEnded = () => {
      if (calls) this.#calls--
      calls = false
    }
    return {
      callEnded,
      leave: () => {
        callEnded()
        this.#held--
      },
    }
  }
}

export interface Place {
  callEnded(): void
  /** The effect is out of hand, whether or not it was called for. Once. */
  leave(): void
}
