import { Worker } from 'node:worker_threads'
import { CounterfoilError } from '../../domain/index.ts'
import type { MigrationReport, Plan, Planned, PlanSession, SqlValue, Store } from '../store.ts'
import { toError } from './failure.ts'
import type { Call, FromWorker, Result, Statement, ToWorker, WorkerOptions } from './protocol.ts'

/** Calls in one transaction at most. */
export const maxBatch = 512
/** Calls that wait at most; more are refused as overloaded. */
export const maxQueued = 16_384
/** Batches on their way at once: one is in work while the next is ready. */
const maxBatches = Number(process.env.MB ?? 2)

interface Waiter {
  readonly resolve: (value: any) => void
  readonly reject: (error: unknown) => void
}

interface Queued extends Waiter {
  readonly call: Call
}

/** Distributes over `Omit` of a union. */
type Order<Message = ToWorker> = Message extends unknown ? Omit<Message, 'id'> : never

/**
 * The main thread's side: collects calls while a batch is in work, so that under load many share one commit,
 * and alone one call waits for nobody.
 */
export class SqliteStore implements Store {
  readonly kind = 'sqlite'
  readonly location: string
  readonly #options: WorkerOptions
  #worker: Worker | undefined
  #queue: Queued[] = []
  readonly #batches = new Map<number, readonly Queued[]>()
  readonly #orders = new Map<number, Waiter>()
  #nextId = 1
  #flushing = false
  #closing: Promise<void> | undefined

  constructor(options: WorkerOptions) {
    this.location = options.path
    this.#options = options
  }

  readonly accept: Store['accept'] = (entry) => this.#call('accept', entry)
  readonly claimOutbox: Store['claimOutbox'] = (claim) => this.#call('claimOutbox', claim)
  readonly plan: Store['plan'] = (plan) => this.#call('plan', plan)
  readonly postponePlan: Store['postponePlan'] = (record) => this.#call('postponePlan', record)
  readonly quarantinePlan: Store['quarantinePlan'] = (record) => this.#call('quarantinePlan', record)
  readonly consumeAlert: Store['consumeAlert'] = (outbox) => this.#call('consumeAlert', outbox)
  readonly takeDue: Store['takeDue'] = (claim) => this.#call('takeDue', claim)
  readonly beginRepeat: Store['beginRepeat'] = (repeat) => this.#call('beginRepeat', repeat)
  readonly renew: Store['renew'] = (renewal) => this.#call('renew', renewal)
  readonly settle: Store['settle'] = (settlement) => this.#call('settle', settlement)
  readonly status: Store['status'] = () => this.#call('status', null)
  readonly listReceipts: Store['listReceipts'] = (query) => this.#call('listReceipts', query)
  readonly showReceipt: Store['showReceipt'] = (id) => this.#call('showReceipt', id)
  readonly listEffects: Store['listEffects'] = (query) => this.#call('listEffects', query)
  readonly showEffects: Store['showEffects'] = (name) => this.#call('showEffects', name)
  readonly listQuarantine: Store['listQuarantine'] = (page) => this.#call('listQuarantine', page)
  readonly showQuarantine: Store['showQuarantine'] = (id) => this.#call('showQuarantine', id)
  readonly readVault: Store['readVault'] = (ref) => this.#call('readVault', ref)

  async open({ migrate }: { migrate: boolean }): Promise<MigrationReport> {
    if (this.#worker === undefined) this.#start()
    try {
      return await this.#order<MigrationReport>({ do: 'open', migrate })
    } catch (error) {
      await this.#worker?.terminate()
      this.#worker = undefined
      throw error
    }
  }

  async close(): Promise<void> {
    if (this.#worker === undefined) return
    this.#closing ??= this.#finish()
    await this.#closing
  }

  async beginPlan({ timeoutMs }: { timeoutMs: number }): Promise<PlanSession> {
    const session = await this.#order<number>({ do: 'begin', timeoutMs })
    const state =
      (kind: Statement['kind']) =>
      (sql: string, ...parameters: SqlValue[]) =>
        this.#order<any>({ do: 'statement', session, statement: { kind, sql, parameters } })
    return {
      run: state('run'),
      get: state('get'),
      all: state('all'),
      commit: (plan: Plan) => this.#order<Planned>({ do: 'commit', session, plan }),
      rollback: () => this.#order<void>({ do: 'rollback', session }),
    }
  }

  #start(): void {
    const program = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url)
    const worker = new Worker(program, { workerData: this.#options })
    worker.on('message', (message: FromWorker) => this.#answer(message))
    // The thread itself broke: what was in work may have committed.
    worker.on('error', (error) =>
      this.#failAll(new CounterfoilError('commit_unknown', `The store's thread ended: ${error.message}`)),
    )
    worker.on('exit', () => this.#failAll(closed()))
    this.#worker = worker
    this.#closing = undefined
  }

  async #finish(): Promise<void> {
    while (this.#queue.length > 0 || this.#batches.size > 0)
      await new Promise((resolve) => setTimeout(resolve, 1))
    await this.#order({ do: 'close' })
    const worker = this.#worker
    this.#worker = undefined
    await worker?.terminate()
  }

  #call<Value>(method: string, argument: unknown): Promise<Value> {
    if (this.#worker === undefined || this.#closing !== undefined) return Promise.reject(closed())
    if (this.#queue.length >= maxQueued) {
      return Promise.reject(
        new CounterfoilError(
          'overloaded',
          `More than ${maxQueued} calls wait for the store ${this.location}.`,
        ),
      )
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ call: [method, argument], resolve, reject })
      if (this.#flushing || this.#batches.size >= maxBatches) return
      this.#flushing = true
      // All calls of this turn of the event loop make one batch.
      setImmediate(() => {
        this.#flushing = false
        this.#flush()
      })
    })
  }

  #flush(): void {
    if (this.#queue.length === 0 || this.#batches.size >= maxBatches) return
    const batch = this.#queue.splice(0, maxBatch)
    const id = this.#nextId++
    this.#batches.set(id, batch)
    try {
      this.#post({ id, do: 'batch', calls: batch.map(({ call }) => call) })
    } catch (error) {
      // A value that cannot cross the thread: nothing was sent.
      this.#batches.delete(id)
      for (const { reject } of batch) reject(error)
    }
  }

  #order<Value>(order: Order): Promise<Value> {
    if (this.#worker === undefined) return Promise.reject(closed())
    return new Promise((resolve, reject) => {
      const id = this.#nextId++
      this.#orders.set(id, { resolve, reject })
      this.#post({ ...order, id } as ToWorker)
    })
  }

  #post(message: ToWorker): void {
    this.#worker?.postMessage(message)
  }

  #answer(message: FromWorker): void {
    if ('results' in message) {
      const batch = this.#batches.get(message.id) ?? []
      this.#batches.delete(message.id)
      this.#flush()
      for (const [index, waiter] of batch.entries()) tell(waiter, message.results[index]!)
      return
    }
    const waiter = this.#orders.get(message.id)
    this.#orders.delete(message.id)
    if (waiter !== undefined) tell(waiter, message.result)
  }

  #failAll(error: CounterfoilError): void {
    const waiters = [...this.#orders.values(), ...[...this.#batches.values()].flat(), ...this.#queue]
    this.#orders.clear()
    this.#batches.clear()
    this.#queue = []
    for (const { reject } of waiters) reject(error)
  }
}

function tell({ resolve, reject }: Waiter, result: Result): void {
  if ('ok' in result) resolve(result.ok)
  else reject(toError(result.failed))
}

function closed(): CounterfoilError {
  return new CounterfoilError('store_closed', 'The store is not open.', {
    hint: 'Call start() or open() first.',
  })
}
