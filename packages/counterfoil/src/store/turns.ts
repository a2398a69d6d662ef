/**
 * Whose turn it is among the ordering domains that wait at a recipient. Half of a claim goes round the domains, one
 * effect of each, so that a domain with a million waiting does not hold up another; the other half goes by time. Each
 * process goes round for itself, from where its last claim ended.
 */
export class Turns {
  readonly #after = new Map<string, string>()
  #odd = false

  /** Of a claim's slots, how many go round: the odd one every other time, so that a single place serves both halves. */
  share(slots: number): number {
    return Math.floor((slots + Number(this.#odd)) / 2)
  }

  /** Where effects are taken in turn: domains that a claim looks into, for many of them may have nothing ready. */
  static visits(slots: number): number {
    return Math.max(64, slots * 8)
  }

  claimed(): void {
    this.#odd = !this.#odd
  }

  /** The domain after which the next round goes on; every domain comes after the empty text. */
  after(recipient: string): string {
    return this.#after.get(recipient) ?? ''
  }

  /** @param domain the last one that had its turn; null when the round came to its end */
  turnedTo(recipient: string, domain: string | null): void {
    if (domain === null) this.#after.delete(recipient)
    else this.#after.set(recipient, domain)
  }
}
