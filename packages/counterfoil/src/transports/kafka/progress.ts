/**
 * What of one partition is done with. Records are worked on side by side and end in any order, and Kafka keeps one number
 * for all of them: it may pass a record only when every earlier one is done.
 */
export class Progress {
  readonly #open = new Set<number>()
  /** After the last one that was begun. */
  #next = 0
  #committed: number | undefined

  begin(offset: number): void {
    // Everything before the first one was done with before.
    this.#committed ??= offset
    this.#open.add(offset)
    this.#next = Math.max(this.#next, offset + 1)
  }

  /** @returns where the partition stands now, or null when it has not moved */
  end(offset: number): number | null {
    this.#open.delete(offset)
    const done = this.#open.size === 0 ? this.#next : Math.min(...this.#open)
    if (this.#committed !== undefined && done <= this.#committed) return null
    this.#committed = done
    return done
  }
}
