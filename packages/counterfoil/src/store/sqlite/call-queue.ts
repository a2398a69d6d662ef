import { CounterfoilError } from '../../domain/index.ts'
import type { Beyond } from '../beyond.ts'
import type { Acceptance, Accepted } from '../store.ts'
import { Blocks } from './blocks.ts'
import { toError } from './failure.ts'
import { pack, packAll, packedBytes, packedBytesOfAll } from './packing.ts'
import type { Batch, Call } from './protocol.ts'
import type { Thread } from './thread.ts'

/** Calls in one transaction at most. */
export const maxBatch = 512
/** Payload bytes in one transaction at most; a larger single one goes alone. */
export const maxBatchBytes = 16 * 1024 * 1024
/** Calls that wait at most; more are refused as overloaded. */
export const maxQueued = 16_384
/** Payload bytes that wait at most. */
export const maxQueuedBytes = 256 * 1024 * 1024
/** Batches on their way at once: one is in work while the next is ready. */
const maxBatches = 2
/** Calls that are worth a commit of their own: they go while the caller's turn of the event loop still runs. */
const worthACommit = 32

interface Queued {
  readonly method: string
  readonly argument: unknown
  readonly bytes: number
  readonly resolve: (value: any) => void
  readonly reject: (error: unknown) => void
}

/** The port's calls by name, each in a transaction or a part of one. */
export interface Calls {
  accept(entry: Acceptance): Promise<Accepted | Beyond>
  acceptAll(entries: readonly Acceptance[]): Promise<Accepted[]>
  call<Value>(method: string, argument: unknown): Promise<Value>
  /** Fulfils when nothing waits and nothing is in work. */
  drained(): Promise<void>
}

/**
 * Group commit, from the side of those who wait: calls that come while batches are on their way make the next
 * one. So under load many share a commit, and alone one call waits for nobody.
 */
export class CallQueue implements Calls {
  readonly #thread: Thread
  readonly #location: string
  readonly #blocks = new Blocks()
  #queue: Queued[] = []
  #queuedBytes = 0
  #batches = 0
  #flushing = false
  #onDrained: (() => void) | undefined

  constructor(thread: Thread, location: string) {
    this.#thread = thread
    this.#location = location
  }

  accept(entry: Acceptance): Promise<Accepted | Beyond> {
    return this.#push('accept', entry, packedBytes(entry))
  }

  acceptAll(entries: readonly Acceptance[]): Promise<Accepted[]> {
    return this.#push('acceptAll', entries, packedBytesOfAll(entries))
  }

  call<Value>(method: string, argument: unknown): Promise<Value> {
    return this.#push(method, argument, 0)
  }

  async drained(): Promise<void> {
    if (this.#queue.length === 0 && this.#batches === 0) return
    await new Promise<void>((resolve) => {
      this.#onDrained = resolve
    })
  }

  #push<Value>(method: string, argument: unknown, bytes: number): Promise<Value> {
    if (this.#queue.length >= maxQueued || this.#queuedBytes + bytes > maxQueuedBytes) {
      return Promise.reject(
        new CounterfoilError(
          'overloaded',
          `${this.#queue.length} calls wait for the store ${this.#location}; no more are taken.`,
          {
            hint: 'Send again later. If it lasts, the disk is slower than what comes in.',
          },
        ),
      )
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ method, argument, bytes, resolve, reject })
      this.#queuedBytes += bytes
      if (this.#batches >= maxBatches) return
      if (this.#queue.length >= worthACommit) {
        this.#flush()
        return
      }
      if (this.#flushing) return
      this.#flushing = true
      // Fewer calls than that, all those of one turn, make one batch.
      setImmediate(() => {
        this.#flushing = false
        this.#flush()
      })
    })
  }

  #flush(): void {
    while (this.#queue.length > 0 && this.#batches < maxBatches) void this.#send(this.#take())
    if (this.#queue.length === 0 && this.#batches === 0) this.#onDrained?.()
  }

  #take(): Queued[] {
    let count = 0
    let bytes = 0
    for (const call of this.#queue) {
      if (count === maxBatch || (count > 0 && bytes + call.bytes > maxBatchBytes)) break
      bytes += call.bytes
      count++
    }
    this.#queuedBytes -= bytes
    return this.#queue.splice(0, count)
  }

  async #send(queued: readonly Queued[]): Promise<void> {
    this.#batches++
    try {
      await this.#deliver(queued)
    } finally {
      this.#batches--
      this.#flush()
    }
  }

  async #deliver(queued: readonly Queued[]): Promise<void> {
    try {
      const { results, block } = await this.#thread.batch(toBatch(queued, this.#blocks))
      this.#blocks.giveBack(block)
      for (const [index, { resolve, reject }] of queued.entries()) {
        const result = results[index]!
        if ('ok' in result) resolve(result.ok)
        else reject(toError(result.failed))
      }
    } catch (error) {
      // The thread was lost, or a value cannot cross it: in the latter case only its own call is to fail.
      const alone = queued.length === 1 || !isUnsendable(error)
      if (alone) for (const { reject } of queued) reject(error)
      else for (const one of queued) await this.#deliver([one])
    }
  }
}

function toBatch(queued: readonly Queued[], blocks: Blocks): Batch {
  const block = blocks.take(queued.reduce((sum, { bytes }) => sum + bytes, 0))
  let at = 0
  const calls = queued.map(({ method, argument, bytes }): Call => {
    if (bytes === 0) return [method, argument]
    const packed =
      method === 'accept'
        ? pack(argument as Acceptance, block, at)
        : packAll(argument as readonly Acceptance[], block, at)
    at += bytes
    return [method, packed]
  })
  return { calls, block }
}

/** Nothing was sent: a function or another thing that no thread can be given, or a digest that is none. */
function isUnsendable(error: unknown): boolean {
  return !(error instanceof CounterfoilError) || error.code === 'internal'
}
