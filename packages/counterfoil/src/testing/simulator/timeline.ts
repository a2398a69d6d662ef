/** Whose turn an entry is: nothing of what is dead runs, and what is paused runs later. */
export interface Owner {
  readonly alive: boolean
  /** Milliseconds of true time until which it runs nothing. */
  readonly pausedUntil: number
}

interface Entry {
  at: number
  readonly tie: number
  readonly owner: Owner | null
  readonly run: () => void
  cancelled: boolean
}

/** Longest schedule: one that takes more steps goes round in circles. */
export const maxSteps = 60_000

/** Steps between turns of the event loop, which other work of the program may wait for. */
const turnEvery = 64

/**
 * True time and everything that waits for it, in one queue. One entry runs at a time, and the next only when all that
 * follows from it is over: so the order is the queue's, and the queue's is the seed's.
 */
export class Timeline {
  now: number
  steps = 0
  readonly #heap: Entry[] = []
  readonly #tie: (count: number) => number
  #count = 0

  /** @param tie decides among entries of one millisecond */
  constructor(start: number, tie: (count: number) => number) {
    this.now = start
    this.#tie = tie
  }

  /** @returns cancels it */
  after(ms: number, owner: Owner | null, run: () => void): () => void {
    const entry = {
      at: this.now + Math.ceil(Math.max(0, ms)),
      tie: this.#tie(this.#count++),
      owner,
      run,
      cancelled: false,
    }
    this.#push(entry)
    return () => {
      entry.cancelled = true
    }
  }

  /** Runs until `until`, or until `done` says so, which is asked now and then. */
  run(until: number, done: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      // Once every microtask has run; a turn of the event loop for each step would cost more than the step.
      const soon = () => process.nextTick(step)
      const step = () => {
        try {
          const goesOn = this.#advance(until) && !(this.steps % 8 === 0 && done())
          if (!goesOn) resolve()
          else if (this.steps % turnEvery === 0) setImmediate(step)
          else queueMicrotask(soon)
        } catch (error) {
          reject(error)
        }
      }
      setImmediate(step)
    })
  }

  /** @returns false when nothing is left until then */
  #advance(until: number): boolean {
    for (;;) {
      const entry = this.#heap[0]
      if (entry === undefined || entry.at > until) {
        this.now = Math.max(this.now, until)
        return false
      }
      this.#pop()
      const { owner } = entry
      if (entry.cancelled || owner?.alive === false) continue
      if (owner !== null && owner.pausedUntil > entry.at) {
        entry.at = owner.pausedUntil
        this.#push(entry)
        continue
      }
      this.now = Math.max(this.now, entry.at)
      if (++this.steps > maxSteps) throw new Error(`the schedule took more than ${maxSteps} steps`)
      entry.run()
      return true
    }
  }

  #push(entry: Entry): void {
    const heap = this.#heap
    let at = heap.push(entry) - 1
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!isBefore(entry, heap[above]!)) break
      heap[at] = heap[above]!
      at = above
    }
    heap[at] = entry
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()!
    if (heap.length === 0) return
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below >= heap.length) break
      if (below + 1 < heap.length && isBefore(heap[below + 1]!, heap[below]!)) below++
      if (!isBefore(heap[below]!, last)) break
      heap[at] = heap[below]!
      at = below
    }
    heap[at] = last
  }
}

function isBefore(one: Entry, other: Entry): boolean {
  return one.at < other.at || (one.at === other.at && one.tie < other.tie)
}
