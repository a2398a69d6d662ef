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
import {
  type Arrivals,
  acceptParameters,
  acceptStatement,
  namesOf as arrivalNames,
  arrivals,
  spread,
  toAccepted,
} from './accept.ts'
import { texts } from './columns.ts'
import type { ConnectionSettings, Row } from './connection.ts'
import { Connections } from './connections.ts'
import {
  beginRepeatParameters,
  beginRepeatStatement,
  renewStatement,
  takeDueParameters,
  takeDueStatement,
  toEffectWork,
  toWork,
} from './due.ts'
import { isOvertaken, toError } from './failure.ts'
import { answerEach, answerTogether, Gatherer } from './gather.ts'
import { Hints } from './hints.ts'
import type { Hosts } from './hosts.ts'
import { migrate } from './migrate.ts'
import {
  claimParameters,
  claimStatement,
  consumeAlertStatement,
  giveUpParameters,
  giveUpStatement,
  postponeParameters,
  postponeStatement,
  toOutboxRecords,
} from './outbox.ts'
import { namesOf as planNames, planParameters, planStatement } from './plan.ts'
import { Reading } from './read.ts'
import { Session } from './session.ts'
import { notMoved, settleParameters, settleStatement } from './settle.ts'
import { type Statement, steadyPlans } from './statement.ts'
import { Tally } from './tally.ts'
import { type StoreClock, Timekeeper } from './time.ts'

export interface StoreSettings {
  readonly hosts: Hosts
  readonly listenUrls: readonly string[]
  readonly schema: string
  readonly clock: StoreClock
  readonly pooler: 'none' | 'transaction'
  readonly maxConnections: number
  readonly maxSessions: number
  readonly lanes: number
  readonly connectTimeoutMs: number
  readonly statementTimeoutMs: number
  readonly lockTimeoutMs: number
  readonly triggerRole: string | null
}

/** A batch's payloads at most, in bytes. */
const maxBatchBytes = 16 * 1024 * 1024
/** Migrations may take their time. */
const migrationTimeoutMs = 3_600_000
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
  readonly #connections: Connections
  readonly #sessions: Connections
  readonly #hints: Hints
  readonly #reading: Reading
  readonly #tally: Tally
  readonly #accepts: Gatherer<Acceptance, Accepted>
  readonly #plans: Gatherer<Plan, Planned>
  readonly #settlements: Gatherer<Settlement, Settled>
  readonly #inWork = new Set<Promise<unknown>>()
  #hintDue = false
  #state: 'closed' | 'open' | 'closing' = 'closed'
  #closing: Promise<void> | undefined

  constructor(settings: StoreSettings) {
    const { hosts, schema, lanes } = settings
    this.#settings = settings
    this.location = hosts.location
    this.#time = new Timekeeper(settings.clock)
    this.#statements = {
      accept: acceptStatement(schema),
      claim: claimStatement(schema),
      plan: planStatement(schema),
      postponePlan: postponeStatement(schema, 'outbox'),
      postponeAlert: postponeStatement(schema, 'alert'),
      giveUp: giveUpStatement(schema),
      consumeAlert: consumeAlertStatement(schema),
      takeDue: takeDueStatement(schema),
      beginRepeat: beginRepeatStatement(schema),
      renew: renewStatement(schema),
      settle: settleStatement(schema),
    }
    this.#connections = new Connections(
      hosts.urls,
      hosts.location,
      ofStatements(settings),
      settings.maxConnections,
    )
    this.#sessions = new Connections(hosts.urls, hosts.location, ofSessions(settings), settings.maxSessions)
    this.#hints = new Hints(settings.listenUrls, ofSessions(settings), channel(schema))
    this.#reading = new Reading(schema, this.#time, (statement, parameters) =>
      this.#run(statement, parameters),
    )
    this.#tally = new Tally(schema, (statement) => this.#run(statement, []))
    const limits = { lanes, maxBatch: 512 }
    this.#accepts = new Gatherer(
      this.location,
      { ...limits, maxBytes: maxBatchBytes, bytesOf: ({ payload }) => payload.ciphertext.length },
      (entries) => this.#acceptEach(entries),
    )
    this.#plans = new Gatherer(
      this.location,
      {
        ...limits,
        maxBytes: maxBatchBytes,
        bytesOf: ({ effects }) => effects.reduce((sum, { request }) => sum + request.ciphertext.length, 0),
      },
      (plans) => answerEach(plans, planNames, (some) => this.#planAll(some)),
    )
    this.#settlements = new Gatherer(this.location, limits, (all) =>
      answerEach(
        all,
        ({ effect }) => [effect],
        (some) => this.#settleAll(some),
      ),
    )
  }

  async open({ migrate: mayMigrate }: { migrate: boolean }): Promise<MigrationReport> {
    await this.#closing
    const { hosts, schema } = this.#settings
    const settings = {
      ...ofSessions(this.#settings),
      options: hosts.options,
      statementTimeoutMs: migrationTimeoutMs,
    }
    const connections = new Connections(hosts.urls, hosts.location, settings, 1)
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
    await Promise.all([this.#accepts.drained(), this.#plans.drained(), this.#settlements.drained()])
    while (this.#inWork.size > 0) await Promise.allSettled(this.#inWork)
    await Promise.all([this.#connections.close(), this.#sessions.close(), this.#hints.close()])
    this.#state = 'closed'
  }

  watch(onWork: () => void): () => void {
    return this.#hints.watch(onWork)
  }

  accept(entry: Acceptance): Promise<Accepted> {
    return this.#taken(() => this.#accepts.push(entry))
  }

  plan(plan: Plan): Promise<Planned> {
    return this.#taken(() => this.#plans.push(plan))
  }

  settle(settlement: Settlement): Promise<Settled> {
    return this.#taken(() => this.#settlements.push(settlement))
  }

  acceptAll(entries: readonly Acceptance[]): Promise<Accepted[]> {
    return this.#taken(() => this.#acceptTogether(entries))
  }

  async acceptIn(executor: SqlExecutor, entry: Acceptance): Promise<Accepted> {
    const [answer] = await this.#acceptWith([entry], this.#through(executor))
    return answer!
  }

  async planIn(executor: SqlExecutor, plan: Plan): Promise<Planned> {
    const { parameters, read } = planParameters([plan], this.#time, false)
    return read(await this.#through(executor)(this.#statements.plan, parameters))[0]!
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
    const rows = await this.#call(this.#statements.takeDue, takeDueParameters(claim, this.#time))
    return rows.map((row) => toWork(row, claim))
  }

  async beginRepeat(repeat: RepeatBegin): Promise<EffectWork | null> {
    const [row] = await this.#call(this.#statements.beginRepeat, beginRepeatParameters(repeat, this.#time))
    return row === undefined ? null : toEffectWork(row, repeat)
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

  /** Each in a commit that it may share with others. */
  async #acceptEach(entries: readonly Acceptance[]): Promise<(Accepted | Error)[]> {
    const { arrivals: all, of } = arrivals(entries)
    const answers = await answerEach(all, arrivalNames, (some) => this.#acceptSome(some, this.#run))
    this.#accepted(entries)
    return spread(answers, of)
  }

  /** All in one commit: later statements of it see what the earlier ones wrote. */
  async #acceptTogether(entries: readonly Acceptance[]): Promise<Accepted[]> {
    if (entries.length === 0) return []
    const answers = await this.#connections.transact('write', async (connection) => {
      await connection.script('begin')
      try {
        const accepted = await this.#acceptWith(entries, (statement, parameters) =>
          connection.run(statement, parameters),
        )
        await connection.script('commit')
        return accepted
      } catch (error) {
        if (!connection.isLost) await connection.script('rollback')
        throw error
      }
    })
    this.#accepted(entries)
    return answers
  }

  async #acceptWith(entries: readonly Acceptance[], run: Run): Promise<Accepted[]> {
    const { arrivals: all, of } = arrivals(entries)
    return spread(await answerTogether(all, arrivalNames, (some) => this.#acceptSome(some, run)), of)
  }

  #accepted(entries: readonly Acceptance[]): void {
    this.#tally.written()
    if (entries.some(({ next }) => next.kind === 'quarantine' || next.handOff === null)) this.#hint()
  }

  async #acceptSome(some: readonly Arrivals[], run: Run): Promise<(Accepted | undefined)[]> {
    // In one order everywhere, so that two that meet wait instead of locking each other out.
    const order = some.map((_, index) => index).sort((a, b) => compare(some[a]!.first, some[b]!.first))
    const sorted = order.map((index) => some[index]!)
    const rows = await run(this.#statements.accept, acceptParameters(sorted, this.#time))
    const answers: (Accepted | undefined)[] = []
    for (const row of rows) answers[order[row.n - 1]!] = toAccepted(row, sorted[row.n - 1]!)
    return answers
  }

  async #planAll(plans: readonly Plan[]): Promise<Planned[]> {
    const sorted = [...plans].sort((a, b) => a.outbox - b.outbox)
    const { parameters, read } = planParameters(sorted, this.#time, true)
    const planned = read(await this.#run(this.#statements.plan, parameters))
    const answers = new Map(sorted.map((plan, index) => [plan, planned[index]!]))
    return plans.map((plan) => answers.get(plan)!)
  }

  async #settleAll(all: readonly Settlement[]): Promise<(Settled | Error)[]> {
    const sorted = [...all].sort((a, b) => (a.effect < b.effect ? -1 : 1))
    const rows = await this.#run(this.#statements.settle, settleParameters(sorted, this.#time))
    const moved = new Set(rows.filter((row) => row.moved).map((row) => sorted[row.n - 1]))
    const left = all.filter((settlement) => !moved.has(settlement))
    const current =
      left.length === 0 ? undefined : await this.#reading.effects(left.map(({ effect }) => effect))
    this.#tally.written()
    return all.map((settlement) =>
      moved.has(settlement)
        ? { kind: 'settled', version: settlement.expectedVersion + 1 }
        : notMoved(settlement, current?.get(settlement.effect)),
    )
  }

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

  /** Other processes are told that there may be work; never in the transaction that makes it, and not each time. */
  #hint(): void {
    if (this.#hintDue) return
    this.#hintDue = true
    setTimeout(() => {
      this.#hintDue = false
      if (this.#state !== 'open') return
      this.#track(this.#run(notify, [channel(this.#settings.schema)])).catch(() => {})
    }, hintPauseMs).unref()
  }
}

type Run = (statement: Statement, parameters: readonly SqlValue[]) => Promise<Row[]>

function compare(a: Acceptance, b: Acceptance): number {
  const [x, y] = [`${a.receipt.eventId} ${a.receipt.delivery}`, `${b.receipt.eventId} ${b.receipt.delivery}`]
  return x < y ? -1 : x > y ? 1 : 0
}

function closed(): CounterfoilError {
  return new CounterfoilError('store_closed', 'The store is closed.', { hint: 'Open it first.' })
}

function channel(schema: string): string {
  return `counterfoil_${schema}`
}

const notify: Statement = {
  name: 'counterfoil_notify',
  writes: false,
  text: "select pg_notify($1::text, '')",
}

function ofStatements(settings: StoreSettings): ConnectionSettings {
  return {
    ...common(settings),
    options: [settings.hosts.options, limits(settings), steadyPlans].join(' '),
  }
}

function ofSessions(settings: StoreSettings): ConnectionSettings {
  return {
    ...common(settings),
    options: `${settings.hosts.options} ${limits(settings)}`,
  }
}

function common({ pooler, connectTimeoutMs, statementTimeoutMs }: StoreSettings) {
  return { pooler, connectTimeoutMs, statementTimeoutMs }
}

function limits({ statementTimeoutMs, lockTimeoutMs }: StoreSettings): string {
  return `-c statement_timeout=${statementTimeoutMs} -c lock_timeout=${lockTimeoutMs} -c idle_in_transaction_session_timeout=${statementTimeoutMs * 2}`
}
