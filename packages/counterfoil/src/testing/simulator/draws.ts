/**
 * Everything that a seed decides, by address: what is drawn for one address does not depend on what was drawn before.
 * So a fault can be left out of a schedule without changing every later one.
 */
export class Draws {
  readonly #seed: number

  constructor(seed: number) {
    this.#seed = mix(seed >>> 0, Math.floor(seed / 2 ** 32) + 0x51ed270b)
  }

  /** At least 0, less than 1. */
  fraction(topic: Topic, a: number, b = 0): number {
    return this.bits(topic, a, b) / 2 ** 32
  }

  /** 32 bits. */
  bits(topic: Topic, a: number, b = 0): number {
    return mix(mix(mix(this.#seed, topics[topic]), a), b)
  }

  chance(share: number, topic: Topic, a: number, b = 0): boolean {
    return this.fraction(topic, a, b) < share
  }

  /** A whole number from 0 to less than `count`. */
  below(count: number, topic: Topic, a: number, b = 0): number {
    return Math.floor(this.fraction(topic, a, b) * count)
  }

  pick<Value>(values: readonly Value[], topic: Topic, a: number, b = 0): Value {
    return values[this.below(values.length, topic, a, b)]!
  }
}

const names = [
  'shape',
  'poll',
  'workers',
  'order',
  'event',
  'variant',
  'time',
  'sender',
  'storeFault',
  'storeWait',
  'storePick',
  'networkFault',
  'networkWait',
  'networkPick',
  'lookupFault',
  'lookupWait',
  'processFault',
  'processTime',
  'processPick',
  'operator',
  'operatorPick',
  'random',
  'tie',
  'skew',
  'gap',
  'alert',
  'example',
  'handler',
  'intruder',
  'desk',
] as const
export type Topic = (typeof names)[number]
const topics = Object.fromEntries(names.map((name, index) => [name, index + 1])) as Record<Topic, number>

/** The finaliser of MurmurHash3 over two words: neighbouring seeds have nothing in common. */
function mix(state: number, word: number): number {
  let h = Math.imul(state ^ Math.imul(word ^ (word >>> 15), 0x2c1b3c6d), 0x297a2d39) + 0x9e3779b9
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}
