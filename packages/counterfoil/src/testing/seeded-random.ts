import type { Random } from '../domain/index.ts'

/** The same seed gives the same ids, nonces and jitter. Never for production: its bytes can be guessed. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  // Mulberry32: 32 bits of state are plenty to vary a test.
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  return {
    bytes: (count) => Uint8Array.from({ length: count }, () => next() & 255),
    fraction: () => next() / 2 ** 32,
  }
}
