/** Smallest block, and the largest that is kept, in bytes. */
const smallest = 64 * 1024
const largestKept = 1024 * 1024
/** Blocks kept for the next batches. */
const kept = 4

/**
 * Memory that goes to the store's thread with a batch and comes back with its reply. Used again, because what
 * one thread allocates and another frees stays with neither: the process would only grow.
 */
export class Blocks {
  readonly #free: ArrayBuffer[] = []

  /** @param bytes how much must fit */
  take(bytes: number): Buffer {
    const index = this.#free.findIndex((block) => block.byteLength >= bytes)
    const [block] = index === -1 ? [] : this.#free.splice(index, 1)
    return Buffer.from(
      block ?? new ArrayBuffer(Math.max(smallest, 2 ** Math.ceil(Math.log2(Math.max(1, bytes))))),
    )
  }

  giveBack(block: ArrayBuffer): void {
    if (block.byteLength <= largestKept && this.#free.length < kept) this.#free.push(block)
  }
}
