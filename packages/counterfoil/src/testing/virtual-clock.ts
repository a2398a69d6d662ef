import type { Clock } from '../domain/index.ts'

interface Timer {
  readonly at: number
  readonly callback: () => void
}

/**
 * Time in whole milliseconds that moves only when told to. Timers run in order of their time, and those of one time in the order
 * in which they were set.
 */
export class VirtualClock implements Clock {
  #now: number
  readonly #timers = new Set<Timer>()

  /** @param start milliseconds since the Unix epoch */
  constructor(start: number = Date.UTC(2026, 0, 1)) {
    this.#now = start
  }

  now(): number {
    return this.#now
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + Math.ceil(Math.max(0, ms)), callback }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Steps the time without running what it passes: a clock that was set, or a process that was paused. */
  jump(ms: number): void {
    this.#now += ms
  }

  /** Moves to the next timer and runs it. @returns false when there is none, or none until `limit` */
  step(limit: number = Number.POSITIVE_INFINITY): boolean {
    let next: Timer | undefined
    for (const timer of this.#timers) if (next === undefined || timer.at < next.at) next = timer
    if (next === undefined || next.at > limit) return false
    this.#timers.delete(next)
    this.#now = Math.max(this.#now, next.at)
    next.callback()
    return true
  }
}
