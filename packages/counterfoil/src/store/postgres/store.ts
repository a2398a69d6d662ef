import {
  CounterfoilError,
  type EffectId,
  type Instant,
  type ReceiptId,
  type WorkerId,
} from '../../domain/index.ts'
import type { MarkerVault } from '../marker-key.ts'
import type { SqlExecutor } from '../sql-executor.ts'
import type {
  Acceptance,
  Accepted,
  AlertPlan,
  AlertPlanned,
  ChunkAcceptance,
  ChunkAccepted,
  DueClaim,
  DueWork,
  EffectDecided,
  EffectDecision,
  EffectWork,
  Finding,
  MigrationReport,
  NewQuarantine,
  OutboxClaim,
  OutboxRecord,
  OutboxRenewal,
  Plan,
  Planned,
  PlanSession,
  QuarantineDecided,
  QuarantineDecision,
  RepeatBegin,
  Settled,
  Settlement,
  SqlValue,
  Store,
} from '../store.ts'
import { Turns } from '../turns.ts'
import { alertUnattendedParameters, planAlertParameters, toAlertPlanned } from './alerts.ts'
import { AuditLog } from './audit.ts'
import { Backfills } from './backfill.ts'
import { backlogStatement } from './backlog.ts'
import { Batches } from './batches.ts'
import { texts } from './columns.ts'
import type { Row, Run } from './connection.ts'
import { Connections } from './connections.ts'
import { examine } from './doctor.ts'
import { beginRepeatParameters, takeDueParameters, toEffectWork, toWork } from './due.ts'
import { EffectDecide } from './effect-decide.ts'
import { Erase, retentionState, retentionStateStatement } from './erase.ts'
import { isOvertaken, toError } from './failure.ts'
import { Forget } from './forget.ts'
import { Hints } from './hints.ts'
import { byLimits, Limited } from './limited.ts'
import { Marks } from './marks.ts'
import { migrate } from './migrate.ts'
import {
  claimParameters,
  giveUpParameters,
  postponeParameters,
  renewOutboxParameters,
  toOutboxRecords,
} from './outbox.ts'
import { QuarantineDecide } from './quarantine-decide.ts'
import { QuarantineList } from './quarantine-list.ts'
import { Reading } from './read.ts'
import { Search } from './search.ts'
import { Session } from './session.ts'
import { channelOf, ofMigration, ofSessions, ofStatements, type StoreSettings } from './settings.ts'
import { settleParameters } from './settle.ts'
import type { Statement } from './statement.ts'
import { writingStatements } from './statements.ts'
import { Survey } from './survey.ts'
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
  readonly #turns = new Turns()
  readonly #statements
  readonly #limited: Limited
  readonly #backlog: Statement
  readonly #connections: Connections
  readonly #sessions: Connections
  readonly #hints: Hints
  readonly #reading: Reading
  readonly #quarantine: QuarantineList
  readonly #audit: AuditLog
  readonly #decide: QuarantineDecide
  readonly #backfills: Backfills
  readonly #marks: Marks
  readonly #forget: Forget
  readonly #erase: Erase
  readonly #retention: Statement
  readonly #decideEffect: EffectDecide
  readonly #search: Search
  readonly #survey: Survey
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
    this.#limited = new Limited({
      statements: this.#statements,
      time: this.#time,
      turns: this.#turns,
      together: (work) => this.#together(work),
    })
    this.#backlog = backlogStatement(settings.schema)
    this.#connections = new Connections(urls, location, ofStatements(settings), settings.maxConnections)
    this.#sessions = new Connections(urls, location, ofSessions(settings), settings.maxSessions)
    this.#hints = new Hints(settings.listenUrls, ofSessions(settings), channelOf(settings))
    this.#quarantine = new QuarantineList(settings.schema, this.#run)
    this.#reading = new Reading(settings.schema, this.#time, this.#quarantine, this.#run)
    this.#audit = new AuditLog(settings.schema)
    this.#decide = new QuarantineDecide(settings.schema, this.#audit, this.#time)
    this.#backfills = new Backfills(settings.schema, this.#audit, this.#time)
    this.#marks = new Marks(settings.schema, location)
    this.#forget = new Forget(settings.schema, this.#marks)
    this.#erase = new Erase(settings.schema, this.#audit)
    this.#retention = retentionStateStatement(settings.schema)
    this.#decideEffect = new EffectDecide(settings.schema, {
      audit: this.#audit,
      settle: this.#statements.settleOne,
      parametersOf: (settlement) => settleParameters([settlement], this.#time),
    })
    this.#search = new Search(settings.schema, this.#reading, this.#run)
    this.#survey = new Survey(settings.schema, this.#run)
    const tally = new Tally(settings.schema, (statement) => this.#run(statement, []))
    this.#batches = new Batches({
      location,
      lanes: settings.lanes,
      time: this.#time,
      marks: this.#marks,
      statements: this.#statements,
      connections: this.#connections,
      run: this.#run,
      reading: this.#reading,
      onWritten: () => tally.written(),
    })
  }

  async open({
    migrate: mayMigrate,
    vault,
  }: {
    migrate: boolean
    vault?: MarkerVault
  }): Promise<MigrationReport> {
    await this.#closing
    const { hosts, schema } = this.#settings
    const connections = new Connections(hosts.urls, hosts.location, ofMigration(this.#settings), 1)
    try {
      const report = await connections.transact('read', (connection) =>
        migrate(connection, schema, hosts.location, mayMigrate),
      )
      await this.#marks.open(vault, this.#run)
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

  async tryAlone({ worker, outbox }: { worker: WorkerId; outbox: number }): Promise<number | undefined> {
    const [row] = await this.#call(this.#statements.tryAlone, [worker, outbox])
    return row?.lost
  }

  async renewOutbox(renewal: OutboxRenewal): Promise<void> {
    await this.#call(this.#statements.renewOutbox, renewOutboxParameters(renewal, this.#time))
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

  async planAlert(plan: AlertPlan): Promise<AlertPlanned> {
    const { planAlert } = this.#statements
    const [row] = await this.#taken(() =>
      this.#marks.run(planAlert, (marking) => planAlertParameters(plan, this.#time, marking), this.#run),
    )
    return toAlertPlanned(row!)
  }

  async alertUnattended(about: {
    now: Instant
    since: Instant
    owner: string
    limit: number
  }): Promise<number> {
    const parameters = alertUnattendedParameters(about, this.#time)
    const [row] = await this.#call(this.#statements.alertUnattended, parameters)
    return row!.raised
  }

  async decideQuarantine(decision: QuarantineDecision): Promise<QuarantineDecided> {
    const decided = await this.#taken(() => this.#together((run) => this.#decide.decide(decision, run)))
    if (decided.kind === 'decided') this.#hint()
    return decided
  }

  async decideEffect(decision: EffectDecision): Promise<EffectDecided> {
    const decided = await this.#taken(() => this.#together((run) => this.#decideEffect.decide(decision, run)))
    if (decided !== null) {
      this.#hint()
      return decided
    }
    const { effect } = decision
    const current = (await this.#taken(() => this.#reading.effects([effect]))).get(effect)
    if (current === undefined) throw new CounterfoilError('not_found', `There is no effect ${effect}.`)
    return { kind: 'stale', current }
  }

  async takeDue(claim: DueClaim): Promise<DueWork[]> {
    const { free, limited } = byLimits(claim)
    const begun = limited === null ? [] : await this.#taken(() => this.#limited.takeDue(limited))
    const taking =
      free === null
        ? Promise.resolve([])
        : this.#call(this.#statements.takeDue, takeDueParameters(free, this.#time, this.#turns))
    // What was begun must reach its worker; the others are asked for again by the next claim.
    const others = begun.length === 0 ? await taking : await taking.catch(() => [])
    const rows = [...begun, ...others]
    for (const { turned_at: recipient, turned_to: domain } of rows) this.#turns.turnedTo(recipient, domain)
    this.#turns.claimed()
    return rows.filter(({ id }) => id !== null).map((row) => toWork(row, claim))
  }

  async beginRepeat(repeat: RepeatBegin): Promise<EffectWork | null> {
    const { limited } = repeat
    const [row] =
      limited === undefined
        ? await this.#call(this.#statements.beginRepeat, beginRepeatParameters(repeat, this.#time))
        : await this.#taken(() => this.#limited.beginRepeat(repeat, limited))
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
      plan: this.#batches.planPorts(),
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
  readonly endOfWalk: Store['endOfWalk'] = (page) => this.#taken(() => this.#reading.endOfWalk(page))
  readonly showReceipt: Store['showReceipt'] = (id) => this.#taken(() => this.#reading.showReceipt(id))
  readonly listEffects: Store['listEffects'] = (query) => this.#taken(() => this.#reading.listEffects(query))
  readonly endOfEffects: Store['endOfEffects'] = (query) =>
    this.#taken(() => this.#reading.endOfEffects(query))
  readonly showEffects: Store['showEffects'] = (name) => this.#taken(() => this.#reading.showEffects(name))
  readonly listQuarantine: Store['listQuarantine'] = (query) =>
    this.#taken(() => this.#quarantine.list(query))
  readonly showQuarantine: Store['showQuarantine'] = (id) => this.#taken(() => this.#quarantine.show(id))
  readonly audit: Store['audit'] = (entry) =>
    this.#taken(() => this.#together((run) => this.#audit.audit(entry, run)))
  readonly listAudit: Store['listAudit'] = (query) => this.#taken(() => this.#audit.list(query, this.#run))
  readonly forget: Store['forget'] = (batch) =>
    this.#taken(() => this.#together((run) => this.#forget.forget(batch, run)))
  readonly erase: Store['erase'] = (erasure) =>
    this.#taken(() => this.#together((run) => this.#erase.erase(erasure, run)))
  readonly retention: Store['retention'] = () => this.#taken(() => retentionState(this.#retention, this.#run))
  readonly readVault: Store['readVault'] = (ref) => this.#taken(() => this.#reading.readVault(ref))
  readonly readRequest: Store['readRequest'] = (id) => this.#taken(() => this.#reading.readRequest(id))
  readonly listEffectsByKey: Store['listEffectsByKey'] = (query) =>
    this.#taken(() => this.#search.effectsByKey(query))
  readonly search: Store['search'] = (query) => this.#taken(() => this.#search.search(query))
  readonly survey: Store['survey'] = (query) => this.#taken(() => this.#survey.survey(query))
  readonly keepSample: Store['keepSample'] = (sample) => this.#taken(() => this.#survey.keepSample(sample))
  readonly probe: Store['probe'] = (at) => this.#taken(() => this.#survey.probe(at))
  readonly listSamples: Store['listSamples'] = (since) => this.#taken(() => this.#survey.listSamples(since))

  readonly knownDeliveries: Store['knownDeliveries'] = (questions) =>
    this.#taken(() => this.#backfills.known(questions, this.#marks, this.#run))
  readonly planBackfill: Store['planBackfill'] = (backfill) =>
    this.#taken(() => this.#together((run) => this.#backfills.plan(backfill, run)))
  readonly decideBackfill: Store['decideBackfill'] = (decision) =>
    this.#taken(() => this.#together((run) => this.#backfills.decide(decision, run)))
  readonly leaseBackfill: Store['leaseBackfill'] = (lease) =>
    this.#taken(() => this.#together((run) => this.#backfills.lease(lease, run)))
  readonly leaveBackfill: Store['leaveBackfill'] = (leave) =>
    this.#taken(() => this.#together((run) => this.#backfills.leave(leave, run)))
  readonly listBackfills: Store['listBackfills'] = () => this.#taken(() => this.#backfills.list(this.#run))
  readonly showBackfill: Store['showBackfill'] = (name) =>
    this.#taken(() => this.#backfills.show(name, this.#run))
  readonly backfillChunks: Store['backfillChunks'] = (query) =>
    this.#taken(() => this.#backfills.chunks(query, this.#run))

  acceptChunk(chunk: ChunkAcceptance): Promise<ChunkAccepted> {
    return this.#hinting(chunk.entries, async () => {
      const taken = await this.#together((run) =>
        this.#backfills.acceptChunk(chunk, (entries) => this.#batches.acceptWith(entries, run), run),
      )
      this.#batches.written()
      return taken
    })
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

  /** Statements of one commit. */
  #together<Value>(work: (run: Run) => Promise<Value>): Promise<Value> {
    return this.#connections.commit((connection) =>
      work((statement, parameters) => connection.run(statement, parameters)),
    )
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

function closed(): CounterfoilError {
  return new CounterfoilError('store_closed', 'The store is closed.', { hint: 'Open it first.' })
}

const notify: Statement = {
  name: 'counterfoil_notify',
  writes: false,
  text: "select pg_notify($1::text, '')",
}
