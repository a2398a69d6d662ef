import type { Clock, Random } from '../../domain/index.ts'
import type { Owner, Timeline } from './timeline.ts'

/** One process from its start to its end. What it still runs after its death reaches nothing any more. */
export class Life implements Owner {
  alive = true
  pausedUntil = 0
  /** How far its clock is ahead of true time, in milliseconds. */
  offsetMs: number
  readonly process: number
  /** Counts the lives of all processes. */
  readonly number: number
  readonly clock: Clock

  constructor(timeline: Timeline, about: { process: number; number: number; offsetMs: number }) {
    this.process = about.process
    this.number = about.number
    this.offsetMs = about.offsetMs
    this.clock = {
      now: () => timeline.now + this.offsetMs,
      after: (ms, callback) => timeline.after(ms, this, callback),
    }
  }
}

/**
 * Never settles: what a dead process waits for. Each has one of its own: everyone who waited for the same one would be kept
 * for as long as it is.
 */
export function never(): Promise<never> {
  return new Promise(() => {})
}

/** The same numbers for the same seed; enough for ids, nonces and jitter, and cheap to draw. */
export function streamOf(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x9e3779b9) >>> 0
    let h = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    h = Math.imul(h ^ (h >>> 15), 0x735a2d97)
    return (h ^ (h >>> 15)) >>> 0
  }
  return {
    bytes(count) {
      const bytes = new Uint8Array(count)
      for (let at = 0; at < count; at += 4) {
        let word = next()
        for (let n = at; n < Math.min(at + 4, count); n++) {
          bytes[n] = word & 255
          word >>>= 8
        }
      }
      return bytes
    },
    fraction: () => next() / 2 ** 32,
  }
}
