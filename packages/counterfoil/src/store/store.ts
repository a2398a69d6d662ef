import type {
  BackfillFigure,
  EffectId,
  EffectKey,
  EffectState,
  Fact,
  FinalState,
  Fingerprint,
  Instant,
  Limits,
  QuarantineId,
  ReceiptId,
  RetentionStep,
  WorkerId,
} from '../domain/index.ts'
import type {
  BackfillChunk,
  BackfillDecided,
  BackfillDecision,
  BackfillLease,
  BackfillPlanned,
  BackfillView,
  DeliveryKnown,
  DeliveryQuestion,
  NewBackfill,
} from './backfills.ts'
import type { MarkerVault } from './marker-key.ts'
import type {
  AttemptOutcome,
  AuditRecord,
  CauseView,
  EffectRecord,
  EffectView,
  EvidenceRecord,
  NewAudit,
  QuarantineNote,
  QuarantineReason,
  QuarantineState,
  QuarantineView,
  ReceiptRecord,
  ReceiptState,
  ReceiptView,
  Sealed,
} from './records.ts'
import type { SqlExecutor, SqlValue } from './sql-executor.ts'

/**
 * The store port. Every writing method is one transaction: it committed when the promise fulfils; it did not
 * when it rejects; and it may have, when it rejects with code `commit_unknown`.
 *
 * Times are given by the caller's clock; a store shared between machines may put its own in their place for
 * leases. `store/conformance.ts` is the meaning of this interface as tests.
 */
export interface Store {
  /** `sqlite`, `postgres`: for status and error texts. */
  readonly kind: string
  /** Where the records are, for people: a file's path, or a URL without credentials. */
  readonly location: string

  /**
   * Opens and checks the schema, migrating when `migrate` is true.
   *
   * @param options.vault opens the key of markers, which is kept in the store. Without it nothing can be forgotten,
   *   and what has left markers cannot be decided on
   * @throws `store_*` codes; `vault_key_unknown` when there are markers and their key does not open
   */
  open(options: { migrate: boolean; vault?: MarkerVault }): Promise<MigrationReport>
  /** Refuses new work, finishes what was taken in, closes. Idempotent. */
  close(): Promise<void>

  /**
   * Design decision 1: receipt + outbox, or receipt + quarantine + alert. I1, I2, I3. What was forgotten is known
   * by its marker. @throws BeyondRetention when nothing was written (I18)
   */
  accept(entry: Acceptance): Promise<Accepted>
  /**
   * The same for events that came together, all in one transaction: all of them committed, or none did. Answers
   * in the order of the entries, each as if they had come one after the other.
   */
  acceptAll(entries: readonly Acceptance[]): Promise<Accepted[]>
  /**
   * `accept` in a transaction of the program's own, which commits or rolls back all of it. When it rejects, the
   * transaction holds nothing of it. @throws `transaction_missing`, `transaction_foreign`, and what the
   * program's client throws
   */
  acceptIn(executor: SqlExecutor, entry: Acceptance): Promise<Accepted>

  /** Leases committed outbox records. A record is handed on again when its lease ran out: never lost, maybe twice. */
  claimOutbox(claim: OutboxClaim): Promise<OutboxRecord[]>
  /**
   * Counts one more process that may end over this plan, before it begins.
   * @returns the record's `lost` from now on; undefined where this worker holds it no more
   */
  tryAlone(record: { worker: WorkerId; outbox: number }): Promise<number | undefined>
  /** Extends the leases that `worker` still holds on the records of these plans. */
  renewOutbox(renewal: OutboxRenewal): Promise<void>
  /** Design decision 2: consume the record and create or find the effects. I3, I4, I6, I17. */
  plan(plan: Plan): Promise<Planned>
  /**
   * `plan` in a transaction of the program's own. Unless `planned`, it writes nothing: the caller rolls back
   * what the trigger wrote, and gives a conflict up by `quarantinePlan`.
   * @throws as `acceptIn`
   */
  planIn(executor: SqlExecutor, plan: Plan): Promise<Planned>
  /** The same, with the trigger's own statements in the same transaction. */
  beginPlan(limits: { timeoutMs: number }): Promise<PlanSession>
  /** Hands the record on again at `at`; counts the try and keeps the error's code and text. */
  postponePlan(record: { outbox: number; at: Instant; error: string }): Promise<void>
  /**
   * Gives a record up: its receipt goes to quarantine with an alert. Nothing happens when it was consumed
   * meanwhile. A receipt that was there before goes back to its entry: the reason stays, the new one is a note.
   */
  quarantinePlan(record: {
    outbox: number
    receipt: ReceiptId
    quarantine: NewQuarantine
    at: Instant
  }): Promise<void>
  /** An alert was delivered. */
  consumeAlert(outbox: number): Promise<void>
  /**
   * Consumes an alert record and creates or finds the effect that delivers it. Its causes are the receipt of the
   * alert, or those of the effect that the alert is about. On `conflict` nothing is written.
   */
  planAlert(plan: AlertPlan): Promise<AlertPlanned>
  /**
   * Raises an alert for each waiting entry that nobody is assigned to and that was last attended to at `since` or
   * before; it then counts as attended to. @returns how many
   */
  alertUnattended(about: {
    readonly now: Instant
    readonly since: Instant
    readonly owner: string
    readonly limit: number
  }): Promise<number>

  /**
   * Design decision 3: takes effects that are due. A planned effect is begun in the same transaction: its
   * attempt and lease are durable before this promise fulfils (I5). Any other is only leased for attention.
   * Of a recipient with limits no more is taken than they leave room for, whatever other workers take at the time.
   */
  takeDue(claim: DueClaim): Promise<DueWork[]>
  /**
   * Begins a repeat of an unknown effect; null when it is not at `expectedVersion` any more, or when the limits
   * leave no room: then it is due again when they may.
   */
  beginRepeat(repeat: RepeatBegin): Promise<EffectWork | null>
  /** Extends the leases that `worker` still holds on these effects. */
  renew(renewal: {
    worker: WorkerId
    effects: readonly EffectId[]
    now: Instant
    leaseMs: number
  }): Promise<void>
  /** Design decision 4: writes what was learned and moves the effect, if it is still at `expectedVersion`. */
  settle(settlement: Settlement): Promise<Settled>

  /**
   * One small batch of a step of retention, in one transaction: looks at rows from where the last batch ended, and
   * takes those that are done with. The same batch again takes nothing more. Only what is final and undisputed
   * goes, and receipts of whose effects all are; what waits for a person never does.
   * @throws `marker_key_missing`
   */
  forget(batch: ForgetBatch): Promise<Forgotten>
  /**
   * Destroys payloads and requests, with its audit row; what is known of them stays. All of them or none: an effect
   * that is not final still needs its request.
   */
  erase(erasure: Erasure): Promise<Erased>
  retention(): Promise<RetentionState>

  status(): Promise<StoreStatus>
  /** Receipts that wait for their plan. From a kept total: costs the same however many they are. */
  backlog(): Promise<number>
  listReceipts(query: ReceiptQuery): Promise<ReceiptView[]>
  /** Where a page that looks at so many receipts ends: the last of them; null when none came before. */
  endOfWalk(page: { readonly before?: string; readonly within: number }): Promise<ReceiptId | null>
  /** By receipt id. */
  showReceipt(id: string): Promise<ReceiptStory | null>
  listEffects(query: EffectQuery): Promise<EffectView[]>
  /** The last effect that a page within so many looks at; null when it looks at all there are. */
  endOfEffects(query: { before?: string; recipient?: string; within: number }): Promise<EffectId | null>
  /** Those whose key begins so, by key and then recipient, in the order of bytes. */
  listEffectsByKey(query: EffectKeyQuery): Promise<EffectView[]>
  /** By effect id, effect key, or idempotency key; all that match. */
  showEffects(name: string): Promise<EffectStory[]>
  /** A page costs the same however many entries there are; so it may be short and still not the last. */
  listQuarantine(query: QuarantineQuery): Promise<QuarantinePage>
  showQuarantine(id: string): Promise<QuarantineStory | null>
  /**
   * An operator's decision on entries, with its audit row. Each entry moves only if it still waits at the version
   * it was decided on. The same decision again changes nothing and answers the same.
   */
  decideQuarantine(decision: QuarantineDecision): Promise<QuarantineDecided>
  /** Appends an act to the audit log; the same decision again appends nothing. */
  audit(entry: NewAudit & { readonly result: AuditRecord['result'] }): Promise<Audited>
  /** Newest first, or oldest first with `after`. */
  listAudit(query: AuditQuery): Promise<AuditRecord[]>
  /**
   * An operator's decision on an effect that is at `expectedVersion`, with its audit row; without a settlement only
   * the row, which goes before what the operator lets be done. The same decision again changes nothing.
   */
  decideEffect(decision: EffectDecision): Promise<EffectDecided>
  /** The sealed payload, or null when retention removed it. */
  readVault(ref: string): Promise<Sealed | null>
  /** The sealed request of an effect, by its id; null when there is none. */
  readRequest(effect: string): Promise<Sealed | null>
  /** Costs the same however long the history: each name is looked for in its index, fingerprints among the newest. */
  search(query: SearchQuery): Promise<Found>
  /** What waits, and how its recipients do. Costs what is open costs, not what is done. */
  survey(query: SurveyQuery): Promise<StoreSurvey>
  /** Keeps the totals of a minute; the first sample of it stays. Those from before `oldest` go. */
  keepSample(sample: Sample & { readonly oldest: number }): Promise<void>
  /** Commits something that nobody reads: fulfils when the store can be written. */
  probe(at: Instant): Promise<void>
  /** Oldest first, from this minute on; the least is 1. */
  listSamples(since: number): Promise<Sample[]>

  /** What `accept` would say of these identities; changes nothing. Answers in the order of the questions. */
  knownDeliveries(questions: readonly DeliveryQuestion[]): Promise<DeliveryKnown[]>
  /** Keeps the plan of a backfill with all its chunks, in place of one that was not begun. */
  planBackfill(backfill: NewBackfill): Promise<BackfillPlanned>
  /** An operator's decision on a backfill, with its audit row. The same decision again changes nothing. */
  decideBackfill(decision: BackfillDecision): Promise<BackfillDecided>
  /** The running backfill, which is now this worker's alone; null when it is not running, or another's. */
  leaseBackfill(lease: BackfillLease): Promise<BackfillView | null>
  /**
   * Takes one chunk in: its entries as `acceptAll`, the figures, the place and the lease in one transaction. The
   * outbox records wait behind those of live traffic.
   */
  acceptChunk(chunk: ChunkAcceptance): Promise<ChunkAccepted>
  /** Gives the lease back; with `halted`, the backfill stops and says so. Nothing happens when it is another's. */
  leaveBackfill(leave: {
    readonly name: string
    readonly worker: WorkerId
    readonly at: Instant
    readonly halted: string | null
  }): Promise<void>
  /** All of them, by name. */
  listBackfills(): Promise<BackfillView[]>
  showBackfill(name: string): Promise<BackfillView | null>
  /** In their order, from this number. */
  backfillChunks(query: {
    readonly name: string
    readonly from: number
    readonly limit: number
  }): Promise<BackfillChunk[]>

  /** Calls back when an operator or another process may have left work: a hint, which may be missed. @returns the end of it */
  watch?(onWork: () => void): () => void
  /** Looks at the health of what the records are kept in, as `counterfoil doctor` prints it. Changes nothing. */
  examine?(): Promise<Finding[]>
}

export interface Finding {
  /** What was looked at: `fsync`, `clock`, … */
  readonly check: string
  /** `problem`: something promised does not hold. `warning`: it will not for long, or nobody can tell. */
  readonly level: 'good' | 'warning' | 'problem'
  /** What was found. */
  readonly says: string
  /** What to do; null when it is good. */
  readonly hint: string | null
}

export interface MigrationReport {
  readonly from: number
  readonly to: number
  readonly applied: readonly string[]
}

export interface NewQuarantine {
  readonly id: QuarantineId
  readonly reason: QuarantineReason
  readonly detail: Readonly<Record<string, unknown>>
  readonly owner: string
}

export interface Acceptance {
  readonly receipt: ReceiptRecord
  readonly payload: Sealed
  /**
   * `plan`: an outbox record is written; with `handOff` it is leased to a worker that already holds the event
   * in memory. `quarantine`: a quarantine entry and an alert record are written instead.
   */
  readonly next:
    | {
        readonly kind: 'plan'
        readonly handOff: { readonly worker: WorkerId; readonly leaseMs: number } | null
      }
    | { readonly kind: 'quarantine'; readonly quarantine: NewQuarantine }
  /** Used when the identity is known with another fingerprint, or is beyond retention. */
  readonly onConflict: { readonly id: QuarantineId; readonly owner: string }
  /** What becomes of it when it is older than the boundary and not known. Default: it is refused. */
  readonly beyond?: 'quarantined'
}

/** What became of a delivery, once its transaction was committed. */
export type Accepted =
  | {
      readonly outcome: 'accepted'
      readonly receipt: ReceiptId
      readonly outbox: number
      readonly sameContentAs: ReceiptId | null
    }
  /** Same identity, same fingerprint: counted, nothing else changed. `receipt` is the first one. */
  | { readonly outcome: 'duplicate'; readonly receipt: ReceiptId }
  /** Now, or already (`repeated`) when the same delivery was quarantined at intake before. */
  | {
      readonly outcome: 'quarantined'
      readonly receipt: ReceiptId
      readonly quarantine: QuarantineId
      readonly reason: QuarantineReason
      readonly repeated: boolean
    }
  /** Same identity, another fingerprint: a receipt of its own, in quarantine beside the first. */
  | {
      readonly outcome: 'conflict'
      readonly receipt: ReceiptId
      readonly quarantine: QuarantineId
      readonly first: ReceiptId
      readonly repeated: boolean
    }

/** One chunk, by the worker that holds the lease. */
export interface ChunkAcceptance extends BackfillLease {
  readonly chunk: number
  readonly items: number
  /** Of items that are no entries. */
  readonly others: readonly BackfillFigure[]
  readonly entries: readonly Acceptance[]
}

export type ChunkAccepted =
  | { readonly kind: 'taken'; readonly backfill: BackfillView }
  /** It is not this worker's turn, or not this chunk's: nothing was written. */
  | { readonly kind: 'lost'; readonly backfill: BackfillView | null }

export interface OutboxClaim {
  readonly worker: WorkerId
  readonly now: Instant
  readonly leaseMs: number
  readonly limit: number
}

export interface OutboxRenewal {
  readonly worker: WorkerId
  readonly outbox: readonly number[]
  readonly now: Instant
  readonly leaseMs: number
}

export type OutboxRecord =
  | {
      readonly kind: 'plan'
      readonly outbox: number
      /** Plans that threw. */
      readonly tries: number
      /** Processes that ended, or stood still past their lease, over this record. Claims count up to `suspect`. */
      readonly lost: number
      readonly receipt: ReceiptView
      readonly payload: Sealed
    }
  | { readonly kind: 'alert'; readonly outbox: number; readonly tries: number; readonly alert: Alert }

/** Word that a person is needed: committed with its cause, and handed on as an effect or to `onAlert`. */
export interface Alert {
  readonly reason: string
  readonly owner: string
  readonly receipt: ReceiptId | null
  readonly quarantine: QuarantineId | null
  readonly effect: EffectId | null
  /** Tells the alerts about one thing apart: `raised`, `returned/2`, `unattended/1790000000000`, `version/5`. */
  readonly occasion: string
  readonly at: Instant
}

export interface AlertPlan {
  readonly outbox: number
  readonly at: Instant
  readonly effect: NewEffect
}

export type AlertPlanned =
  | { readonly kind: 'planned'; readonly created: boolean }
  | { readonly kind: 'consumed' }
  /** `existing` is null when only a marker is left of it. */
  | { readonly kind: 'conflict'; readonly existing: Fingerprint | null }

export interface NewEffect extends EffectRecord {
  readonly trigger: string
  /** The request, sealed: the same bytes for every attempt. */
  readonly request: Sealed
  /** It has an order, and is not begun before every effect of an earlier version in its domain here is final. */
  readonly inTurn?: true
  /** A backfill caused it: until its first attempt it waits behind what live traffic caused. Not where it is in turn. */
  readonly behind?: true
  /**
   * Where this plan creates the effect, its first attempt begins in the same transaction, at the time of the plan:
   * decisions 2 and 3 in one commit, for a worker that has a place free.
   */
  readonly begin?: FirstAttempt
}

export interface FirstAttempt {
  readonly worker: WorkerId
  readonly leaseMs: number
}

export interface Plan {
  readonly outbox: number
  readonly receipt: ReceiptId
  readonly at: Instant
  readonly plannedBy: string
  readonly effects: readonly NewEffect[]
  /** Used when an effect key is known with another fingerprint. */
  readonly onConflict: { readonly id: QuarantineId; readonly owner: string }
}

export type Planned =
  | {
      readonly kind: 'planned'
      /** In the order of the plan. One that was created has its first attempt begun if the plan asked for that. */
      readonly effects: readonly { readonly id: EffectId; readonly created: boolean }[]
    }
  /** Another worker planned it, or it was given up. Nothing was written. */
  | { readonly kind: 'consumed' }
  /** Nothing of the plan was written; the receipt is in quarantine with both fingerprints. */
  | {
      readonly kind: 'conflict'
      readonly recipient: string
      readonly key: EffectKey
      readonly planned: Fingerprint
      /** Null when only a marker is left of it. */
      readonly existing: Fingerprint | null
      readonly quarantine: QuarantineId
    }

/** The transaction that a plan commits in. Statements run in the order they were given. */
export interface PlanTransaction {
  run(sql: string, ...parameters: SqlValue[]): Promise<{ readonly changes: number }>
  get(sql: string, ...parameters: SqlValue[]): Promise<Record<string, SqlValue> | undefined>
  all(sql: string, ...parameters: SqlValue[]): Promise<Record<string, SqlValue>[]>
}

export interface PlanSession extends PlanTransaction {
  /** Writes the plan and commits; on `conflict` the user's statements are rolled back and only the quarantine commits. */
  commit(plan: Plan): Promise<Planned>
  rollback(): Promise<void>
}

export interface DueClaim {
  readonly worker: WorkerId
  readonly now: Instant
  readonly leaseMs: number
  /** How many more effects each recipient may have in flight here. A recipient not named gets none. */
  readonly slots: Readonly<Record<string, number>>
  /** Of the recipients that have some. */
  readonly limits?: Readonly<Record<string, Limits>>
  /** Recipients that take effects in turn. */
  readonly inTurn?: readonly string[]
}

export interface EffectWork {
  readonly kind: 'attempt'
  readonly effect: EffectView
  readonly attempt: number
  readonly request: Sealed
}

export type DueWork = EffectWork | { readonly kind: 'attention'; readonly effect: EffectView }

export interface RepeatBegin {
  readonly effect: EffectId
  readonly expectedVersion: number
  readonly worker: WorkerId
  readonly now: Instant
  readonly leaseMs: number
  /** Where its recipient has limits. */
  readonly limited?: { readonly recipient: string; readonly limits: Limits }
}

export interface Settlement {
  readonly effect: EffectId
  readonly expectedVersion: number
  readonly at: Instant
  readonly to: EffectState
  readonly disputed: boolean
  readonly escalated: boolean
  /** When the engine looks again; null when it has nothing more to do; `unchanged` while a lease runs. */
  readonly dueAt: Instant | null | 'unchanged'
  /** The answer of an attempt that had none yet, or whose outcome was unknown. */
  readonly attempt?: {
    readonly number: number
    readonly outcome: AttemptOutcome
    readonly why: string
    readonly status: number | null
    readonly correlation: string | null
    readonly retryAfterMs: number | null
  }
  /** Nothing more can come of any attempt of this effect. */
  readonly closeAttempts: boolean
  readonly evidence?: Omit<EvidenceRecord, 'at' | 'to'>
  readonly alert?: { readonly reason: string; readonly owner: string }
}

export type Settled =
  | { readonly kind: 'settled'; readonly version: number }
  /** Someone else moved it: decide again on `current`. Nothing was written. */
  | { readonly kind: 'stale'; readonly current: EffectView }

/** Newest first. `before` is the id of the last row of the page before. */
export interface Page {
  readonly limit: number
  readonly before?: string
}

export interface ReceiptQuery extends Page {
  /** Looks at so many receipts and no more: a page may be short then and still not be the last. */
  readonly within?: number
  readonly producer?: string
  readonly state?: ReceiptState
}

export interface EffectQuery extends Page {
  readonly recipient?: string
  readonly state?: EffectState
  /** Where those confirmed are asked for: looks at so many of the newest at most. The page may be short then. */
  readonly within?: number
}

export interface EffectKeyQuery {
  readonly prefix: string
  readonly limit: number
  /** The last of the page before. */
  readonly after?: { readonly key: string; readonly recipient: string }
}

/** Newest first with `before`, oldest first with `after`; each the id of the last row of the page before. */
export interface QuarantineQuery {
  readonly limit: number
  readonly before?: string
  readonly after?: string
  /** With `after`: the last entry that the walk may reach. */
  readonly through?: string
  readonly producer?: string
  readonly type?: string
  readonly reason?: QuarantineReason
  readonly owner?: string
  /** Null: entries that nobody is assigned to. */
  readonly assignee?: string | null
  readonly state?: QuarantineState
  /** Entries that came at this time or before. */
  readonly until?: Instant
  /** Part of the event id, as it is written. */
  readonly event?: string
}

export interface QuarantinePage {
  readonly entries: readonly QuarantineView[]
  /** Where the next page begins; null when there is none. */
  readonly next: QuarantineId | null
}

export interface QuarantineStory {
  readonly entry: QuarantineView
  /** Oldest first. */
  readonly notes: readonly QuarantineNote[]
}

export type QuarantineMove =
  | { readonly to: 'assigned'; readonly assignee: string | null }
  /** Its receipt is accepted again, with an outbox record. */
  | { readonly to: 'released' }
  | { readonly to: 'dismissed' }
  /** It was tried and cannot start work. */
  | { readonly to: 'kept'; readonly reason: QuarantineReason; readonly detail: QuarantineNote['detail'] }

export interface QuarantineDecision {
  readonly audit: NewAudit
  readonly entries: readonly {
    readonly id: QuarantineId
    readonly expectedVersion: number
    readonly move: QuarantineMove
  }[]
  /** All entries move or nothing is written, the audit row neither. */
  readonly whole: boolean
}

/** `stale`: it changed since. `settled`: it was released or dismissed. */
export type QuarantineResult = {
  readonly id: QuarantineId
  readonly outcome: 'assigned' | 'released' | 'dismissed' | 'kept' | 'stale' | 'settled' | 'absent'
  /** Now; 0 when it is absent. */
  readonly version: number
}

export type QuarantineDecided =
  | {
      readonly kind: 'decided'
      readonly results: readonly QuarantineResult[]
      /** The decision was made before; the results are those of then. */
      readonly repeated: boolean
    }
  /** Something of a whole decision could not move; nothing was written. */
  | { readonly kind: 'refused'; readonly results: readonly QuarantineResult[] }
  /** Another decision was made under this id; nothing was written. */
  | { readonly kind: 'other'; readonly existing: AuditRecord }

export type Audited =
  | { readonly kind: 'audited'; readonly record: AuditRecord; readonly repeated: boolean }
  /** Another act was recorded under this decision id; nothing was written. */
  | { readonly kind: 'other'; readonly existing: AuditRecord }

export interface AuditQuery {
  readonly limit: number
  /** Row numbers. */
  readonly before?: number
  readonly after?: number
  /** Only the parts of this decision: those whose id begins with it and a slash. */
  readonly partsOf?: string
  /** Only what was done to this, newest first; with `before`. */
  readonly subject?: string
}

export interface EffectDecision {
  readonly audit: NewAudit
  readonly effect: EffectId
  readonly expectedVersion: number
  readonly settlement: Settlement | null
}

export type EffectDecided =
  | { readonly kind: 'decided'; readonly record: AuditRecord; readonly repeated: boolean }
  /** The effect has changed since; nothing was written. */
  | { readonly kind: 'stale'; readonly current: EffectView }
  /** Another act was recorded under this decision id; nothing was written. */
  | { readonly kind: 'other'; readonly existing: AuditRecord }

export interface SearchQuery {
  readonly text: string
  /** Of each kind of record, by each kind of name. */
  readonly limit: number
}

/** Which of its names a record was found by. Ids, event ids and effect keys are found by their beginnings too. */
export type FoundBy =
  | 'id'
  | 'event-id'
  | 'key'
  | 'idempotency-key'
  | 'correlation'
  /** Of at least 8 hexadecimal digits, and among the newest only. */
  | 'fingerprint'

export interface Found {
  readonly receipts: readonly (ReceiptView & { readonly by: FoundBy })[]
  readonly effects: readonly (EffectView & { readonly by: FoundBy })[]
  readonly quarantine: readonly QuarantineView[]
}

export interface SurveyQuery {
  readonly recipients: readonly string[]
  /** The newest effects of each recipient whose attempts are counted. */
  readonly recent: number
}

export type OpenState = Exclude<EffectState, FinalState>

export interface StoreSurvey {
  /** When the oldest entry that waits came. */
  readonly quarantineSince: Instant | null
  /** Of the recipients asked for, in their order. */
  readonly recipients: readonly RecipientSurvey[]
}

export interface RecipientSurvey {
  readonly recipient: string
  /** How many are open, and when the one that was planned first was planned. */
  readonly open: Readonly<Record<OpenState, { readonly count: number; readonly oldestAt: Instant | null }>>
  /** Attempts of the newest effects by their outcome. */
  readonly recent: Readonly<Record<AttemptOutcome, number>>
  /** Among those. */
  readonly lastConfirmedAt: Instant | null
}

export interface Sample {
  /** Minutes since the epoch. */
  readonly minute: number
  readonly totals: Readonly<Record<string, number>>
}

export interface ReceiptStory {
  readonly receipt: ReceiptView
  readonly quarantine: QuarantineView | null
  readonly effects: readonly {
    readonly id: EffectId
    readonly recipient: string
    readonly key: EffectKey
    readonly state: EffectState
  }[]
}

export interface EffectStory {
  readonly effect: EffectView
  readonly causes: readonly CauseView[]
}

export interface ForgetBatch {
  readonly step: RetentionStep
  /** What is done with at this time or before. */
  readonly until: Instant
  /** `next` of the batch before. */
  readonly after?: ForgetPlace
  /** Rows that are looked at. */
  readonly limit: number
  /** Counts, and changes nothing. */
  readonly dryRun?: boolean
}

/** Where a batch ended; means something to the store alone. */
export type ForgetPlace = readonly [number, number]

export interface Forgotten {
  readonly count: number
  /** Of the content that goes, in bytes; what the database needs around it comes on top. */
  readonly bytes: number
  /** Null: the step is done. */
  readonly next: ForgetPlace | null
}

export interface Erasure {
  readonly audit: NewAudit
  /** Their payloads, and the requests of the effects that they caused. */
  readonly receipts: readonly ReceiptId[]
  /** Their requests, and the payloads of the receipts that caused them. */
  readonly effects: readonly EffectId[]
}

export type Erased =
  | {
      readonly kind: 'erased'
      readonly payloads: number
      readonly requests: number
      /** The same decision was made before; nothing was changed now. */
      readonly repeated: boolean
    }
  /** These are not done with; nothing was written. */
  | {
      readonly kind: 'refused'
      readonly receipts: readonly ReceiptId[]
      readonly effects: readonly EffectId[]
    }
  | { readonly kind: 'other'; readonly existing: AuditRecord }

export interface RetentionState {
  /** Events that happened before are accepted only if they are known; null when nothing is closed. */
  readonly boundary: Instant | null
  readonly markers: { readonly receipts: number; readonly effects: number }
  /** When the oldest of each came, or became final; null when there is none. */
  readonly oldest: { readonly payloadAt: Instant | null; readonly receiptAt: Instant | null }
  readonly size: {
    /** On the disk. */
    readonly bytes: number
    /** Of those: free for what comes next. Null where the database does not say. */
    readonly freeBytes: number | null
  }
}

export interface StoreStatus {
  readonly schema: number
  readonly receipts: {
    readonly total: number
    readonly duplicates: number
    readonly byState: Readonly<Record<ReceiptState, number>>
  }
  readonly outbox: { readonly waiting: number; readonly oldestAt: Instant | null }
  /** Entries that wait. */
  readonly quarantine: number
  readonly effects: {
    readonly total: number
    readonly byState: Readonly<Record<EffectState, number>>
    readonly disputed: number
    readonly escalated: number
  }
}

export type { Fact, SqlValue }
