import { width } from './packing.ts'

const chunk = 2 ** 16

/**
 * The packed states that were seen, in the order in which they were, each with the one it was reached from: a hash table with
 * open addressing over words that are compared whole, so no two states are ever taken for one.
 */
export class Seen {
  #size = 0
  #table = new Int32Array(2 ** 12).fill(-1)
  readonly #chunks: Uint32Array[] = []

  get size(): number {
    return this.#size
  }

  /** @returns false when it was seen before */
  add(words: Uint32Array, from: number): boolean {
    let slot = hash(words) & (this.#table.length - 1)
    for (let at = this.#table[slot]!; at !== -1; at = this.#table[slot]!) {
      if (this.#is(at, words)) return false
      slot = (slot + 1) & (this.#table.length - 1)
    }
    this.#table[slot] = this.#size
    if (this.#size % chunk === 0) this.#chunks.push(new Uint32Array(chunk * (width + 1)))
    const place = (this.#size % chunk) * (width + 1)
    const last = this.#chunks.at(-1)!
    last.set(words, place)
    last[place + width] = from
    this.#size++
    if (this.#size * 2 > this.#table.length) this.#grow()
    return true
  }

  words(index: number): Uint32Array {
    const place = (index % chunk) * (width + 1)
    return this.#chunks[Math.floor(index / chunk)]!.subarray(place, place + width)
  }

  cameFrom(index: number): number {
    return this.#chunks[Math.floor(index / chunk)]![(index % chunk) * (width + 1) + width]!
  }

  #is(index: number, words: Uint32Array): boolean {
    const held = this.#chunks[Math.floor(index / chunk)]!
    const place = (index % chunk) * (width + 1)
    for (let word = 0; word < width; word++) if (held[place + word] !== words[word]) return false
    return true
  }

  #grow(): void {
    const table = new Int32Array(this.#table.length * 2).fill(-1)
    for (let index = 0; index < this.#size; index++) {
      let slot = hash(this.words(index)) & (table.length - 1)
      while (table[slot] !== -1) slot = (slot + 1) & (table.length - 1)
      table[slot] = index
    }
    this.#table = table
  }
}

/** FNV-1a over words, stirred once more at the end, as the low bits choose the slot. */
function hash(words: Uint32Array): number {
  let mixed = 0x811c9dc5
  for (let word = 0; word < width; word++) {
    mixed = Math.imul(mixed ^ words[word]!, 0x01000193)
    mixed ^= mixed >>> 15
  }
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  return (mixed ^ (mixed >>> 13)) >>> 0
}
