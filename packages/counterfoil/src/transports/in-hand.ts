/** The messages that a consumer has handed over and not settled yet: never more than it may. */
export class InHand {
  readonly #most: number
  readonly #held = new Set<Promise<void>>()
  #waiting: (() => void)[] = []

  constructor(most: number) {
    this.#most = most
  }

  get free(): number {
    return this.#most - this.#held.size
  }

  /** @param settled fulfils when the broker was told what became of the message; never rejects */
  hold(settled: Promise<void>): void {
    const held = settled.finally(() => {
      this.#held.delete(held)
      for (const wake of this.#waiting.splice(0)) wake()
    })
    this.#held.add(held)
  }

  /** Fulfils when there is room for one more. */
  async room(): Promise<void> {
    while (this.free < 1) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  async empty(): Promise<void> {
    await Promise.all(this.#held)
  }
}
