import { assert, CounterfoilError } from '../../domain/index.ts'
import { isStoreWide } from './failure.ts'

/** Calls that wait at most; more are refused as overloaded. */
export const maxQueued = 16_384

export interface GatherLimits<Call> {
  /** Batches on their way at once, each on a connection of its own. */
  readonly lanes: number
  /** Calls in one batch at most. */
  readonly maxBatch: number
  /** Bytes in one batch at most; a larger single call goes alone. */
  readonly maxBytes?: number
  readonly bytesOf?: (call: Call) => number
}

interface Waiting<Call, Answer> {
  readonly call: Call
  readonly bytes: number
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

/**
 * Group commit, from the side of those who wait: calls that come while batches are on their way make the next
 * one, a single statement. Alone, one call waits for nobody.
 */
export class Gatherer<Call, Answer> {
  readonly #perform: (calls: readonly Call[]) => Promise<readonly (Answer | Error)[]>
  readonly #location: string
  readonly #limits: GatherLimits<Call>
  #queue: Waiting<Call, Answer>[] = []
  #batches = 0
  #flushing = false
  #onDrained: (() => void)[] = []

  /** @param perform an answer for each call in order, its error where it failed; never rejects */
  constructor(
    location: string,
    limits: GatherLimits<Call>,
    perform: (calls: readonly Call[]) => Promise<readonly (Answer | Error)[]>,
  ) {
    this.#location = location
    this.#limits = limits
    this.#perform = perform
  }

  push(call: Call): Promise<Answer> {
    if (this.#queue.length >= maxQueued) return Promise.reject(this.#overloaded())
    const bytes = this.#limits.bytesOf?.(call) ?? 0
    return new Promise((resolve, reject) => {
      this.#queue.push({ call, bytes, resolve, reject })
      if (this.#flushing || this.#batches >= this.#limits.lanes) return
      this.#flushing = true
      // All calls of one turn of the event loop make one batch.
      setImmediate(() => {
        this.#flushing = false
        this.#flush()
      })
    })
  }

  /** Fulfils when nothing waits and nothing is on its way. */
  async drained(): Promise<void> {
    if (this.#queue.length === 0 && this.#batches === 0) return
    await new Promise<void>((resolve) => this.#onDrained.push(resolve))
  }

  #flush(): void {
    while (this.#queue.length > 0 && this.#batches < this.#limits.lanes) {
      this.#batches++
      void this.#deliver(this.#take()).finally(() => {
        this.#batches--
        this.#flush()
      })
    }
    if (this.#queue.length > 0 || this.#batches > 0) return
    for (const resolve of this.#onDrained.splice(0)) resolve()
  }

  #take(): Waiting<Call, Answer>[] {
    const { maxBatch, maxBytes = Number.POSITIVE_INFINITY } = this.#limits
    let count = 0
    let bytes = 0
    for (const one of this.#queue) {
      if (count === maxBatch || (count > 0 && bytes + one.bytes > maxBytes)) break
      bytes += one.bytes
      count++
    }
    return this.#queue.splice(0, count)
  }

  async #deliver(batch: readonly Waiting<Call, Answer>[]): Promise<void> {
    const answers = await this.#perform(batch.map(({ call }) => call))
    batch.forEach(({ resolve, reject }, index) => {
      const answer = answers[index]!
      if (answer instanceof Error) reject(answer)
      else resolve(answer)
    })
  }

  #overloaded(): CounterfoilError {
    return new CounterfoilError('overloaded', `${maxQueued} calls wait for the store ${this.#location}.`, {
      hint: 'Send again later. If it lasts, the database is slower than what comes in.',
    })
  }
}

/** Statements in which a call may stay undecided because others changed the same rows. */
const maxStatements = 1_000

type Run<Call, Answer> = (calls: readonly Call[]) => Promise<readonly (Answer | undefined)[]>

/**
 * Answers calls in as few statements as they allow: two that name the same thing do not meet in one, and what a
 * statement left undecided (`undefined`), because others changed the same rows meanwhile, goes into the next.
 */
export async function answerTogether<Call, Answer>(
  calls: readonly Call[],
  namesOf: (call: Call) => readonly string[],
  run: Run<Call, Answer>,
): Promise<Answer[]> {
  const answers: Answer[] = []
  let open = calls.map((call, index) => ({ call, index, names: namesOf(call) }))
  for (let statements = 0; open.length > 0; statements++) {
    assert(statements < maxStatements, 'every call is decided in the end')
    const named = new Set<string>()
    const now = open.filter(({ names }) => {
      const meets = names.some((name) => named.has(name))
      for (const name of names) named.add(name)
      return !meets
    })
    const found = await run(now.map(({ call }) => call))
    now.forEach(({ index }, position) => {
      const answer = found[position]
      if (answer !== undefined) answers[index] = answer
    })
    open = open.filter(({ index }) => answers[index] === undefined)
  }
  return answers
}

/** The same where each statement commits: one that fails is run again call by call, so that only the culprit fails. */
export async function answerEach<Call, Answer>(
  calls: readonly Call[],
  namesOf: (call: Call) => readonly string[],
  run: Run<Call, Answer | Error>,
): Promise<(Answer | Error)[]> {
  return await answerTogether<Call, Answer | Error>(calls, namesOf, (some) => culpritAlone(some, run))
}

async function culpritAlone<Call, Answer>(
  calls: readonly Call[],
  run: Run<Call, Answer | Error>,
): Promise<readonly (Answer | Error | undefined)[]> {
  try {
    return await run(calls)
  } catch (error) {
    if (calls.length === 1 || isStoreWide(error)) return calls.map(() => error as Error)
    const answers: (Answer | Error | undefined)[] = []
    for (const call of calls) answers.push(...(await culpritAlone([call], run)))
    return answers
  }
}
