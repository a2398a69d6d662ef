import { setFlagsFromString } from 'node:v8'
import { type Transferable, Worker } from 'node:worker_threads'
import { CounterfoilError } from '../../domain/index.ts'
import { toError } from './failure.ts'
import type { Batch, BatchReply, FromWorker, Order, ToWorker, WorkerOptions } from './protocol.ts'

/** Built, this file and the thread's program are .js. */
const fromSource = import.meta.url.endsWith('.ts')

/**
 * From source each thread strips types with WebAssembly. Where one thread optimises the wrappers of its calls while
 * another ends, V8 can lose track of their pages, and the process dies or its memory is damaged (nodejs/node#64500).
 * So none is optimised. Built, there is no WebAssembly in the thread.
 */
const keepWrappers = '--wasm-wrapper-tiering-budget=1000000000'

interface Waiter {
  /** What is true of it when the thread is lost. */
  readonly ifLost: 'commit_unknown' | 'store_unavailable'
  readonly resolve: (value: any) => void
  readonly reject: (error: unknown) => void
}

/** What takes the orders that belong to no batch. */
export interface StoreThread {
  order<Value>(order: Order): Promise<Value>
  end(): Promise<void>
}

/** The store's thread as seen from the main one: messages out, promises back. It is started when it is first needed. */
export class Thread implements StoreThread {
  readonly #options: WorkerOptions
  /** Those who wait for the thread that runs now; an earlier one that is ending has its own. */
  #waiters = new Map<number, Waiter>()
  #worker: Worker | undefined
  #nextId = 1

  constructor(options: WorkerOptions) {
    this.#options = options
  }

  /** Fulfils with one result for each call. @throws DataCloneError at once when a value cannot cross the thread */
  batch(batch: Batch): Promise<BatchReply> {
    return this.#send((id) => ({ id, batch }), [batch.block.buffer as ArrayBuffer], 'commit_unknown')
  }

  order<Value>(order: Order): Promise<Value> {
    const ifLost = order.do === 'commit' ? 'commit_unknown' : 'store_unavailable'
    return this.#send((id) => ({ id, order }), [], ifLost)
  }

  async end(): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    await worker?.terminate()
  }

  #send<Value>(
    message: (id: number) => ToWorker,
    moved: Transferable[],
    ifLost: Waiter['ifLost'],
  ): Promise<Value> {
    this.#worker ??= this.#start()
    const worker = this.#worker
    const id = this.#nextId++
    return new Promise((resolve, reject) => {
      worker.postMessage(message(id), moved)
      this.#waiters.set(id, { resolve, reject, ifLost })
    })
  }

  #start(): Worker {
    const program = new URL(fromSource ? './worker.ts' : './worker.js', import.meta.url)
    if (fromSource) setFlagsFromString(keepWrappers)
    const worker = new Worker(program, {
      workerData: this.#options,
      name: 'counterfoil store',
      // Rows pass through and are gone: a large young generation would only be memory kept.
      resourceLimits: { maxYoungGenerationSizeMb: 8 },
      ...forFile(),
    })
    const waiters = new Map<number, Waiter>()
    this.#waiters = waiters
    let why = 'it was ended'
    worker.on('message', (message: FromWorker) => answer(waiters, message))
    worker.on('error', (error) => {
      why = error instanceof Error ? error.message : String(error)
    })
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = undefined
      this.#lose(waiters, why)
    })
    return worker
  }

  /** The thread is gone: what it was told may have been committed. The next call starts another. */
  #lose(waiters: Map<number, Waiter>, why: string): void {
    const lost = [...waiters.values()]
    waiters.clear()
    for (const { reject, ifLost } of lost) {
      reject(new CounterfoilError(ifLost, `The thread of the store ${this.#options.path} ended: ${why}.`))
    }
  }
}

function answer(waiters: Map<number, Waiter>, message: FromWorker): void {
  const waiter = waiters.get(message.id)
  waiters.delete(message.id)
  if (waiter === undefined) return
  if ('results' in message) waiter.resolve(message)
  else if ('ok' in message.result) waiter.resolve(message.result.ok)
  else waiter.reject(toError(message.result.failed))
}

/** A program given as text (`node --input-type=module -e …`) hands on options that do not fit a thread whose program is a file. */
function forFile(): { execArgv?: string[] } {
  const { execArgv } = process
  if (!execArgv.some((option) => option.startsWith('--input-type'))) return {}
  return { execArgv: execArgv.filter((option) => option.startsWith('--conditions=')) }
}

export function closed(): CounterfoilError {
  return new CounterfoilError('store_closed', 'The store is not open.', {
    hint: 'Call start() or open() first; after stop() or close() nothing is taken in.',
  })
}
