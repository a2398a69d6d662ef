import { notBeyond } from '../beyond.ts'
import { type MarkerVault, markerKey } from '../marker-key.ts'
import { Marking } from '../marking.ts'
import type { Sealed } from '../records.ts'
import type { SqlExecutor } from '../sql-executor.ts'
import type {
  Acceptance,
  Accepted,
  ChunkAcceptance,
  ChunkAccepted,
  MigrationReport,
  Plan,
  Planned,
  PlanSession,
  SqlValue,
  Store,
} from '../store.ts'
import { CallQueue, type Calls } from './call-queue.ts'
import type { Order, Statement, WorkerOptions } from './protocol.ts'
import { closed, type StoreThread, Thread } from './thread.ts'
import { acceptIn, planIn } from './user-transaction.ts'

/** Who does what is asked: a thread of its own, unless tests put something else in its place. */
interface Performers {
  readonly thread: StoreThread
  readonly calls: Calls
}

function onThread(options: WorkerOptions): Performers {
  const thread = new Thread(options)
  return { thread, calls: new CallQueue(thread, options.path) }
}

/**
 * The main thread's side of the port: calls go to the queue that makes batches of them; what belongs to a
 * trigger's session goes straight to the thread.
 */
export class SqliteStore implements Store {
  readonly kind = 'sqlite'
  readonly location: string
  readonly #thread: StoreThread
  readonly #calls: Calls
  readonly #watchers = new Set<() => void>()
  #marking: Marking | undefined
  #state: 'closed' | 'open' | 'closing' = 'closed'
  #closing: Promise<void> | undefined

  constructor(options: WorkerOptions, { thread, calls } = onThread(options)) {
    this.location = options.path
    this.#thread = thread
    this.#calls = calls
  }

  async open({ migrate, vault }: { migrate: boolean; vault?: MarkerVault }): Promise<MigrationReport> {
    await this.#closing
    try {
      const report = await this.#thread.order<MigrationReport>({ do: 'open', migrate })
      await this.#mark(vault)
      this.#state = 'open'
      return report
    } catch (error) {
      this.#state = 'closed'
      await this.#thread.end()
      throw error
    }
  }

  async #mark(vault: MarkerVault | undefined): Promise<void> {
    const place = {
      read: () => this.#calls.call<{ key: Sealed | null; marked: boolean }>('readMarkerKey', null),
      write: (key: Sealed, known: Sealed | null) => this.#calls.call<void>('writeMarkerKey', { key, known }),
    }
    const key = vault === undefined ? null : await markerKey(place, vault)
    await this.#thread.order({ do: 'mark', key })
    this.#marking = key === null ? undefined : new Marking(key)
  }

  async close(): Promise<void> {
    if (this.#state === 'open') {
      this.#state = 'closing'
      this.#closing = this.#finish()
    }
    await this.#closing
  }

  async #finish(): Promise<void> {
    await this.#calls.drained()
    try {
      await this.#thread.order({ do: 'close' })
    } finally {
      await this.#thread.end()
      this.#state = 'closed'
    }
  }

  accept(entry: Acceptance): Promise<Accepted> {
    return this.#state === 'open' ? this.#calls.accept(entry).then(notBeyond) : Promise.reject(closed())
  }

  acceptAll(entries: readonly Acceptance[]): Promise<Accepted[]> {
    return this.#state === 'open' ? this.#calls.acceptAll(entries) : Promise.reject(closed())
  }

  /** On the program's own connection and thread: its transaction is nobody else's. */
  async acceptIn(executor: SqlExecutor, entry: Acceptance): Promise<Accepted> {
    if (this.#state !== 'open') throw closed()
    return acceptIn(executor, this.location, entry, this.#marking)
  }

  async planIn(executor: SqlExecutor, plan: Plan): Promise<Planned> {
    if (this.#state !== 'open') throw closed()
    return planIn(executor, this.location, plan, this.#marking)
  }

  readonly claimOutbox: Store['claimOutbox'] = (claim) => this.#call('claimOutbox', claim)
  readonly tryAlone: Store['tryAlone'] = (record) => this.#call('tryAlone', record)
  readonly renewOutbox: Store['renewOutbox'] = (renewal) => this.#call('renewOutbox', renewal)
  readonly plan: Store['plan'] = (plan) => this.#call('plan', plan)
  readonly postponePlan: Store['postponePlan'] = (record) => this.#call('postponePlan', record)
  readonly quarantinePlan: Store['quarantinePlan'] = (record) => this.#call('quarantinePlan', record)
  readonly consumeAlert: Store['consumeAlert'] = (outbox) => this.#call('consumeAlert', outbox)
  readonly planAlert: Store['planAlert'] = (plan) => this.#call('planAlert', plan)
  readonly alertUnattended: Store['alertUnattended'] = (about) => this.#call('alertUnattended', about)
  readonly takeDue: Store['takeDue'] = (claim) => this.#call('takeDue', claim)
  readonly beginRepeat: Store['beginRepeat'] = (repeat) => this.#call('beginRepeat', repeat)
  readonly renew: Store['renew'] = (renewal) => this.#call('renew', renewal)
  readonly settle: Store['settle'] = (settlement) => this.#call('settle', settlement)
  readonly status: Store['status'] = () => this.#call('status', null)
  readonly backlog: Store['backlog'] = () => this.#call('backlog', null)
  readonly listReceipts: Store['listReceipts'] = (query) => this.#call('listReceipts', query)
  readonly endOfWalk: Store['endOfWalk'] = (page) => this.#call('endOfWalk', page)
  readonly showReceipt: Store['showReceipt'] = (id) => this.#call('showReceipt', id)
  readonly listEffects: Store['listEffects'] = (query) => this.#call('listEffects', query)
  readonly endOfEffects: Store['endOfEffects'] = (query) => this.#call('endOfEffects', query)
  readonly showEffects: Store['showEffects'] = (name) => this.#call('showEffects', name)
  readonly listQuarantine: Store['listQuarantine'] = (query) => this.#call('listQuarantine', query)
  readonly showQuarantine: Store['showQuarantine'] = (id) => this.#call('showQuarantine', id)
  readonly decideQuarantine: Store['decideQuarantine'] = (decision) =>
    this.#leavingWork(this.#call('decideQuarantine', decision))
  readonly audit: Store['audit'] = (entry) => this.#call('audit', entry)
  readonly listAudit: Store['listAudit'] = (query) => this.#call('listAudit', query)
  readonly decideEffect: Store['decideEffect'] = (decision) =>
    this.#leavingWork(this.#call('decideEffect', decision))
  readonly readVault: Store['readVault'] = (ref) => this.#call('readVault', ref)
  readonly knownDeliveries: Store['knownDeliveries'] = (questions) => this.#call('knownDeliveries', questions)
  readonly planBackfill: Store['planBackfill'] = (backfill) => this.#call('planBackfill', backfill)
  readonly decideBackfill: Store['decideBackfill'] = (decision) => this.#call('decideBackfill', decision)
  readonly leaseBackfill: Store['leaseBackfill'] = (lease) => this.#call('leaseBackfill', lease)
  readonly leaveBackfill: Store['leaveBackfill'] = (leave) => this.#call('leaveBackfill', leave)
  readonly listBackfills: Store['listBackfills'] = () => this.#call('listBackfills', null)
  readonly showBackfill: Store['showBackfill'] = (name) => this.#call('showBackfill', name)
  readonly backfillChunks: Store['backfillChunks'] = (query) => this.#call('backfillChunks', query)

  async acceptChunk(chunk: ChunkAcceptance): Promise<ChunkAccepted> {
    if (this.#state !== 'open') throw closed()
    return await this.#leavingWork(this.#calls.acceptChunk(chunk))
  }
  readonly forget: Store['forget'] = (batch) => this.#call('forget', batch)
  readonly erase: Store['erase'] = (erasure) => this.#call('erase', erasure)
  readonly retention: Store['retention'] = () => this.#call('retention', null)
  readonly readRequest: Store['readRequest'] = (effect) => this.#call('readRequest', effect)
  readonly listEffectsByKey: Store['listEffectsByKey'] = (query) => this.#call('listEffectsByKey', query)
  readonly search: Store['search'] = (query) => this.#call('search', query)
  readonly survey: Store['survey'] = (query) => this.#call('survey', query)
  readonly keepSample: Store['keepSample'] = (sample) => this.#call('keepSample', sample)
  readonly examine: NonNullable<Store['examine']> = () =>
    this.#call('examine', { path: this.location, now: Date.now() })
  readonly probe: Store['probe'] = (at) => this.#call('probe', at)
  readonly listSamples: Store['listSamples'] = (since) => this.#call('listSamples', since)

  async beginPlan({ timeoutMs }: { timeoutMs: number }): Promise<PlanSession> {
    if (this.#state !== 'open') throw closed()
    const session = await this.#order<number>({ do: 'begin', timeoutMs })
    const statement =
      (kind: Statement['kind']) =>
      (sql: string, ...parameters: SqlValue[]) =>
        this.#order<any>({ do: 'statement', session, statement: { kind, sql, parameters } })
    return {
      run: statement('run'),
      get: statement('get'),
      all: statement('all'),
      commit: (plan: Plan) => this.#order<Planned>({ do: 'commit', session, plan }),
      rollback: () => this.#order<void>({ do: 'rollback', session }),
    }
  }

  /** Of work that this handle left. What other processes leave is found by the poll. */
  watch(onWork: () => void): () => void {
    this.#watchers.add(onWork)
    return () => this.#watchers.delete(onWork)
  }

  async #leavingWork<Value>(call: Promise<Value>): Promise<Value> {
    const value = await call
    for (const onWork of this.#watchers) onWork()
    return value
  }

  #call<Value>(method: string, argument: unknown): Promise<Value> {
    return this.#state === 'open' ? this.#calls.call(method, argument) : Promise.reject(closed())
  }

  /** A session that began before `close` may go on to its end. */
  #order<Value>(order: Order): Promise<Value> {
    return this.#state === 'closed' ? Promise.reject(closed()) : this.#thread.order(order)
  }
}
