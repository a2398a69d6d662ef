import type { Clock } from '../domain/index.ts'

/** One act, as the recipient itself knows it: the referee of every claim about what happened. */
export interface Act {
  readonly at: number
  readonly key: string | null
  readonly body: string
}

/** What a simulated recipient keeps, in the words of contracts. Everything absent: it acts on whatever it gets. */
export interface MemoryOptions {
  /** How long a key is remembered; a pruned key runs as a new request. Default: for ever. */
  readonly remembersMs?: number
  /** Default `first-success`. */
  readonly replays?: 'first-success' | 'first-answer' | 'nothing'
  /** Default `refused`, with 422. */
  readonly otherPayload?: 'refused' | 'first-answer'
  /** Rejects versions older than the one it holds, and that one too, with 412. */
  readonly fences?: boolean
  /** Acts only while its state is as the request says, and answers 412 after. */
  readonly conditional?: boolean
  /** Takes requests on with 202, and acts this much later. */
  readonly actsAfterMs?: number
  /** The latest that a request may act, counted from when it was sent. */
  readonly acceptsForMs?: number
}

export interface Received {
  readonly key: string | null
  readonly body: string
  readonly version: number | null
  readonly condition: string | null
  readonly sentAt: number
}

interface Remembered {
  readonly body: string
  readonly at: number
  status: number
  /** It has acted, or refused, and not merely taken it on. */
  done: boolean
}

/** The inside of a simulated recipient: keys, versions, tombstones and acts. Shares nothing with the engine. */
export class RecipientMemory {
  readonly acts: Act[] = []
  readonly #clock: Clock
  readonly #options: MemoryOptions
  readonly #keys = new Map<string, Remembered>()
  readonly #closed = new Set<string>()
  #version = 0
  #state = 'v1'

  constructor(clock: Clock, options: MemoryOptions) {
    this.#clock = clock
    this.#options = options
  }

  /** Takes one request in; returns the status of its answer. @param fails it answers 500 and does not act */
  receive(request: Received, fails = false): number {
    const { key, body, sentAt } = request
    const { acceptsForMs = Number.POSITIVE_INFINITY, replays = 'first-success', otherPayload } = this.#options
    if (this.#clock.now() > sentAt + acceptsForMs) return 422
    if (key !== null && this.#closed.has(key)) return 412
    const first = this.#find(key)
    if (first !== undefined) {
      if (first.body !== body && otherPayload !== 'first-answer') return 422
      return replays === 'nothing' ? 409 : first.status
    }
    const status = fails ? 500 : this.#act(request)
    if (key !== null && (status < 300 || replays === 'first-answer'))
      this.#keys.set(key, { body, at: this.#clock.now(), status, done: status !== 202 })
    return status
  }

  /** Remembers a key as another program's. */
  occupy(key: string, body: string): void {
    this.#keys.set(key, { body, at: this.#clock.now(), status: 200, done: true })
  }

  /** 200 acted, 202 taken on, 404 not there. A failure that is remembered is no act. */
  lookup(key: string): number {
    const first = this.#find(key)
    if (first === undefined || first.status >= 300) return 404
    return first.done ? 200 : 202
  }

  /** Closes a key: 200, or 409 when it has acted. */
  close(key: string): number {
    if (this.lookup(key) !== 404) return 409
    this.#closed.add(key)
    return 200
  }

  #find(key: string | null): Remembered | undefined {
    if (key === null) return undefined
    const first = this.#keys.get(key)
    const { remembersMs = Number.POSITIVE_INFINITY } = this.#options
    return first !== undefined && this.#clock.now() - first.at < remembersMs ? first : undefined
  }

  #act({ key, body, version, condition }: Received): number {
    const { fences, conditional, actsAfterMs } = this.#options
    if (fences === true && version !== null) {
      if (version <= this.#version) return 412
      this.#version = version
    }
    if (conditional === true) {
      if (condition !== this.#state) return 412
      this.#state = 'v2'
    }
    const act = () => {
      this.acts.push({ at: this.#clock.now(), key, body })
      const taken = this.#find(key)
      if (taken !== undefined) taken.done = true
    }
    if (actsAfterMs === undefined) act()
    else this.#clock.after(actsAfterMs, act)
    return actsAfterMs === undefined ? 200 : 202
  }
}
