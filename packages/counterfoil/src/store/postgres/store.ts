import {
  CounterfoilError,
  type EffectId,
  type Instant,
  type ReceiptId,
  type WorkerId,
} from '../../domain/index.ts'
import type { SqlExecutor } from '../sql-executor.ts'
import type {
  Acceptance,
  Accepted,
  DueClaim,
  DueWork,
  EffectWork,
  Finding,
  MigrationReport,
  NewQuarantine,
  OutboxClaim,
  OutboxRecord,
  Plan,
  Planned,
  PlanSession,
  RepeatBegin,
  Settled,
  Settlement,
  SqlValue,
  Store,
} from '../store.ts'
import { backlogStatement } from './backlog.ts'
import { Batches, type Run } from './batches.ts'
import { texts } from './columns.ts'
import type { Connection, Row } from './connection.ts'
import { Connections } from './connections.ts'
import { examine } from './doctor.ts'
import { beginRepeatParameters, takeDueParameters, toEffectWork, toWork } from './due.ts'
import { isOvertaken, toError } from './failure.ts'
import { Hints } from './hints.ts'
import { migrate } from './migrate.ts'
import { claimParameters, giveUpParameters, postponeParameters, toOutboxRecords } from './outbox.ts'
import { limitParameters } from './pace.ts'
import { Reading } from './read.ts'
import { Session } from './session.ts'
import { channelOf, ofMigration, ofSessions, ofStatements, type StoreSettings } from './settings.ts'
import type { Statement } from './statement.ts'
import { writingStatements } from './statements.ts'
import { Tally } from './tally.ts'
import { Timekeeper } from './time.ts'

/** Hints to other processes, at most one in this time. */
const hintPauseMs = 20

/**
 * Many workers on many machines over one database. Each call is one statement, and calls of one kind that wait
 * together share one.
 */
export class PostgresStore implements Store {
  readonly kind = 'postgres'
  readonly location: string
  readonly #settings: StoreSettings
  readonly #time: Timekeeper
  readonly #statements
  readonly #backlog: Statement
  readonly #connections: Connections
  readonly #sessions: Connections
  readonly #hints: Hints
  readonly #reading: Reading
  readonly #batches: Batches
  readonly #inWork = new Set<Promise<unknown>>()
  #hintDue = false
  #state: 'closed' | 'open' | 'closing' = 'closed'
  #closing: Promise<void> | undefined

  constructor(settings: StoreSettings) {
    const { urls, location } = settings.hosts
    this.#settings = settings
    this.location = location
    this.#time = new Timekeeper(settings.clock)
    this.#statements = writingStatements(settings.schema)
    this.#backlog = backlogStatement(settings.schema)
    this.#connections = new Connections(urls, location, ofStatements(settings), settings.maxConnections)
    this.#sessions = new Connections(urls, location, ofSessions(settings), settings.maxSessions)
    this.#hints = new Hints(settings.listenUrls, ofSessions(settings), channelOf(settings))
    this.#reading = new Reading(settings.schema, this.#time, this.#run)
    const tally = new Tally(settings.schema, (statement) => this.#run(statement, []))
    this.#batches = new Batches({
      location,
      lanes: settings.lanes,
      time: this.#time,
      statements: this.#statements,
      connections: this.#connections,
      run: this.#run,
      reading: this.#reading,
      onWritten: () => tally.written(),
    })
  }

  async open({ migrate: mayMigrate }: { migrate: boolean }): Promise<MigrationReport> {
    await this.#closing
    const { hosts, schema } = this.#settings
    const connections = new Connections(hosts.urls, hosts.location, ofMigration(this.#settings), 1)
    try {
      const report = await connections.transact('read', (connection) =>
        migrate(connection, schema, hosts.location, mayMigrate),
      )
      this.#state = 'open'
      return report
    } finally {
      await connections.close()
    }
  }

  async close(): Promise<void> {
    if (this.#state === 'open') {
      this.#state = 'closing'
      this.#closing = this.#finish()
    }
    await this.#closing
  }

  async #finish(): Promise<void> {
    await this.#batches.drained()
    while (this.#inWork.size > 0) await Promise.allSettled(this.#inWork)
    await Promise.all([this.#connections.close(), this.#sessions.close(), this.#hints.close()])
    this.#state = 'closed'
  }

  watch(onWork: () => void): () => void {
    return this.#hints.watch(onWork)
  }

  examine(): Promise<Finding[]> {
    return this.#taken(() => examine(this.#settings.schema, this.#run))
  }

  accept(entry: Acceptance): Promise<Accepted> {
    return this.#hinting([entry], () => this.#batches.accept(entry))
  }

  acceptAll(entries: readonly Acceptance[]): Promise<Accepted[]> {
    return this.#hinting(entries, () => this.#batches.acceptTogether(entries))
  }

  plan(plan: Plan): Promise<Planned> {
    return this.#taken(() => this.#batches.plan(plan))
  }

  settle(settlement: Settlement): Promise<Settled> {
    return this.#taken(() => this.#batches.settle(settlement))
  }

  async acceptIn(executor: SqlExecutor, entry: Acceptance): Promise<Accepted> {
    const [answer] = await this.#batches.acceptWith([entry], this.#through(executor))
    return answer!
  }

  async planIn(executor: SqlExecutor, plan: Plan): Promise<Planned> {
    return await this.#batches.planWith(plan, this.#through(executor))
  }

  async claimOutbox(claim: OutboxClaim): Promise<OutboxRecord[]> {
    const rows: Row[] = []
    for (;;) {
      const room = claim.limit - rows.length
      if (room < 1) break
      const more = await this.#call(
        this.#statements.claim,
        claimParameters({ ...claim, limit: room }, this.#time),
      )
      rows.push(...more)
      if (!more.some(({ filled }) => filled === true)) break
    }
    return toOutboxRecords(rows)
  }

  async postponePlan(record: { outbox: number; at: Instant; error: string }): Promise<void> {
    const { postponeAlert, postponePlan } = this.#statements
    await this.#call(record.outbox < 0 ? postponeAlert : postponePlan, postponeParameters(record, this.#time))
  }

  async quarantinePlan(record: {
    outbox: number
    receipt: ReceiptId
    quarantine: NewQuarantine
    at: Instant
  }): Promise<void> {
    await this.#call(this.#statements.giveUp, giveUpParameters(record, this.#time))
  }

  async consumeAlert(outbox: number): Promise<void> {
    await this.#call(this.#statements.consumeAlert, [-outbox])
  }

  async takeDue(claim: DueClaim): Promise<DueWork[]> {
    const [free, limited] = byLimits(claim)
    const rows = limited === null ? [] : await this.#takeLimited(limited)
    if (free === null) return rows.map((row) => toWork(row, claim))
    const others = await this.#call(this.#statements.takeDue, takeDueParameters(free, this.#time))
    return [...rows, ...others].map((row) => toWork(row, claim))
  }

  async beginRepeat(repeat: RepeatBegin): Promise<EffectWork | null> {
    const parameters = beginRepeatParameters(repeat, this.#time)
    const { beginRepeat, beginRepeatLimited, hold } = this.#statements
    const { limited } = repeat
    const [row] =
      limited === undefined
        ? await this.#call(beginRepeat, parameters)
        : await this.#holding(hold, [limited.recipient], (connection) =>
            connection.run(beginRepeatLimited, parameters),
          )
    return row === undefined ? null : toEffectWork(row, repeat)
  }

  #takeLimited(claim: DueClaim): Promise<Row[]> {
    const { holdOrPass, takeDueLimited } = this.#statements
    return this.#holding(holdOrPass, Object.keys(claim.slots), async (connection, held) => {
      if (held.length === 0) return []
      const slots = Object.fromEntries(held.map((name) => [name, claim.slots[name]!]))
      const limits = limitParameters(held.map((name) => [name, claim.limits![name]!]))
      const parameters = takeDueParameters({ ...claim, slots }, this.#time)
      return await connection.run(takeDueLimited, [...parameters, ...limits])
    })
  }

  /** A transaction of two statements: the second sees all that was begun by who held these recipients before. */
  #holding(
    hold: Statement,
    recipients: readonly string[],
    work: (connection: Connection, held: readonly string[]) => Promise<Row[]>,
  ): Promise<Row[]> {
    return this.#taken(() =>
      this.#connections.transact('write', async (connection) => {
        try {
          await connection.script('begin')
          const held = await connection.run(hold, [texts([...recipients].sort())])
          const rows = await work(
            connection,
            held.map(({ recipient }) => recipient as string),
          )
          await connection.script('commit')
          return rows
        } catch (error) {
          if (!connection.isLost) await connection.script('rollback').catch(() => connection.drop())
          throw error
        }
      }),
    )
  }

  async renew(renewal: {
    worker: WorkerId
    effects: readonly EffectId[]
    now: Instant
    leaseMs: number
  }): Promise<void> {
    const { worker, effects, now, leaseMs } = renewal
    const parameters = [worker, texts([...effects].sort()), leaseMs, this.#time.now(now)]
    await this.#call(this.#statements.renew, parameters)
  }

  async beginPlan({ timeoutMs }: { timeoutMs: number }): Promise<PlanSession> {
    if (this.#state !== 'open') throw closed()
    const { schema, triggerRole } = this.#settings
    const settings = {
      schema,
      triggerRole,
      location: this.location,
      time: this.#time,
      plan: this.#statements.plan,
    }
    let end = () => {}
    // Closing waits for it.
    this.#track(new Promise<void>((resolve) => (end = resolve)))
    try {
      return await Session.begin(this.#sessions, settings, timeoutMs, end)
    } catch (error) {
      end()
      throw error
    }
  }

  readonly status: Store['status'] = () => this.#taken(() => this.#reading.status())
  readonly backlog: Store['backlog'] = async () => {
    const [row] = await this.#call(this.#backlog, [])
    return row!.waiting as number
  }
  readonly listReceipts: Store['listReceipts'] = (query) =>
    this.#taken(() => this.#reading.listReceipts(query))
  readonly showReceipt: Store['showReceipt'] = (id) => this.#taken(() => this.#reading.showReceipt(id))
  readonly listEffects: Store['listEffects'] = (query) => this.#taken(() => this.#reading.listEffects(query))
  readonly showEffects: Store['showEffects'] = (name) => this.#taken(() => this.#reading.showEffects(name))
  readonly listQuarantine: Store['listQuarantine'] = (page) =>
    this.#taken(() => this.#reading.listQuarantine(page))
  readonly showQuarantine: Store['showQuarantine'] = (id) =>
    this.#taken(() => this.#reading.showQuarantine(id))
  readonly readVault: Store['readVault'] = (ref) => this.#taken(() => this.#reading.readVault(ref))

  #through(executor: SqlExecutor): Run {
    if (executor.dialect !== 'postgres') {
      throw new CounterfoilError(
        'transaction_foreign',
        `A transaction of ${executor.dialect} cannot hold rows of the PostgreSQL store ${this.location}.`,
      )
    }
    return async ({ text }, parameters) => {
      try {
        return (await executor.query(text, parameters)) as Row[]
      } catch (error) {
        // The server ended the caller's transaction; everything else is told in the words of the caller's driver.
        throw isOvertaken(error) ? toError(error, this.location, 'write') : error
      }
    }
  }

  /** A call of its own: refused when closed, waited for when closing. */
  #call(statement: Statement, parameters: readonly SqlValue[]): Promise<Row[]> {
    return this.#taken(() => this.#run(statement, parameters))
  }

  #taken<Value>(begin: () => Promise<Value>): Promise<Value> {
    return this.#state === 'open' ? this.#track(begin()) : Promise.reject(closed())
  }

  #track<Value>(work: Promise<Value>): Promise<Value> {
    this.#inWork.add(work)
    const done = () => this.#inWork.delete(work)
    work.then(done, done)
    return work
  }

  readonly #run: Run = (statement, parameters) =>
    this.#connections.transact(statement.writes ? 'write' : 'read', (connection) =>
      connection.run(statement, parameters),
    )

  /** Work that nobody holds in memory is announced to other processes, once it is committed. */
  #hinting<Value>(entries: readonly Acceptance[], accept: () => Promise<Value>): Promise<Value> {
    const accepted = this.#taken(accept)
    const isHeld = entries.every(({ next }) => next.kind === 'plan' && next.handOff !== null)
    if (!isHeld) accepted.then(() => this.#hint()).catch(() => {})
    return accepted
  }

  /** Never in the transaction that makes the work: those that notify commit one after another. And not each time. */
  #hint(): void {
    if (this.#hintDue) return
    this.#hintDue = true
    setTimeout(() => {
      this.#hintDue = false
      if (this.#state !== 'open') return
      this.#track(this.#run(notify, [channelOf(this.#settings)])).catch(() => {})
    }, hintPauseMs).unref()
  }
}

/** Recipients without limits cost one statement, those with limits a transaction; null where there are none. */
function byLimits(claim: DueClaim): [free: DueClaim | null, limited: DueClaim | null] {
  const { limits = {} } = claim
  const wanted = Object.entries(claim.slots).filter(([, slots]) => slots >= 1)
  const part = (isLimited: boolean) => {
    const slots = wanted.filter(([name]) => (limits[name] !== undefined) === isLimited)
    return slots.length === 0 ? null : { ...claim, slots: Object.fromEntries(slots) }
  }
  return [part(false), part(true)]
}

function closed(): CounterfoilError {
  return new CounterfoilError('store_closed', 'The store is closed.', { hint: 'Open it first.' })
}

const notify: Statement = {
  name: 'counterfoil_notify',
  writes: false,
  text: "select pg_notify($1::text, '')",
}
