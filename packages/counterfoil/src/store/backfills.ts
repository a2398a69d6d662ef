import {
  addCounts,
  type BackfillCounts,
  type BackfillFact,
  type BackfillFigure,
  type BackfillState,
  type DeliveryDigest,
  type Fingerprint,
  type Instant,
  moveBackfill,
  noCounts,
  type WorkerId,
} from '../domain/index.ts'
import type { AuditRecord, NewAudit, QuarantineReason } from './records.ts'
import type { Acceptance, Accepted } from './store.ts'

/** Backfills as stores keep them, and the moves that both stores make alike. */

/** Where the events come from. */
export type BackfillSource =
  /** Events, a JSON value a line; nobody has signed them. */
  | { readonly kind: 'events'; readonly path: string }
  /** Requests as they came over the wire, in the files of a directory. */
  | { readonly kind: 'requests'; readonly path: string }
  /** What the configuration lists, as it was at this time. */
  | { readonly kind: 'listed'; readonly until: Instant }

/** An item that became no event: a line of a file, or a file of a directory. */
export interface BackfillFault {
  readonly place: string
  readonly figure: 'malformed' | 'refused'
  readonly why: string
}

/** Some of many, the first ones, and how many there are. */
export interface FirstOf<Value> {
  readonly count: number
  readonly first: readonly Value[]
}

export interface BackfillGaps {
  /** Events of the source that have no receipt. */
  readonly lacking: FirstOf<string>
  /** Receipts of the producer from the time that the source covers, whose events the source does not have. */
  readonly unlisted: FirstOf<string>
  /** Sequence numbers that are missing between those of the source; null: its events carry none. */
  readonly holes: FirstOf<{ readonly within: string; readonly from: string; readonly to: string }> | null
  /** When the first and the last event of the source happened; null: none says. */
  readonly from: Instant | null
  readonly to: Instant | null
}

/** What was found when it was planned. */
export interface BackfillPlan {
  readonly producer: string
  readonly source: BackfillSource
  readonly at: Instant
  readonly by: string
  /** What an approval is bound to. */
  readonly digest: string
  readonly items: number
  readonly chunks: number
  readonly counts: BackfillCounts
  readonly faults: FirstOf<BackfillFault>
  readonly gaps: BackfillGaps
}

export interface BackfillApproval {
  readonly by: string
  readonly at: Instant
  readonly reason: string
  readonly decision: string
}

/** What became of it so far. Written in the transaction that takes a chunk in, so it is exact whatever crashed. */
export interface BackfillRun {
  readonly approval: BackfillApproval | null
  /** Items a second at most; null: as many as live traffic leaves room for. */
  readonly rate: number | null
  /** Chunks and items taken in. */
  readonly chunks: number
  readonly items: number
  readonly counts: BackfillCounts
  readonly begunAt: Instant | null
  /** When it was begun last, and the items taken in by then. */
  readonly resumedAt: Instant | null
  readonly resumedItems: number
  readonly changedAt: Instant
  readonly endedAt: Instant | null
  /** Why it halted. */
  readonly halted: string | null
}

export interface BackfillView {
  readonly name: string
  readonly state: BackfillState
  readonly version: number
  readonly plan: BackfillPlan
  readonly run: BackfillRun
  /** Who takes it in at present. */
  readonly worker: WorkerId | null
}

/** A part of the input that is taken in together. */
export interface BackfillChunk {
  /** From 0. */
  readonly number: number
  /** Where the source is read from: a byte of a file, or a count of items. */
  readonly at: number
  /** Line of a file, or count of files or items, before it. */
  readonly before: number
  readonly items: number
  readonly digest: string
}

export interface NewBackfill {
  readonly name: string
  readonly plan: BackfillPlan
  readonly chunks: readonly BackfillChunk[]
}

export type BackfillPlanned =
  | { readonly kind: 'planned'; readonly backfill: BackfillView }
  /** One of that name was begun; nothing was written. */
  | { readonly kind: 'refused'; readonly backfill: BackfillView }

export type BackfillMove =
  /** Only while the plan has this digest. */
  | { readonly fact: 'approved'; readonly digest: string }
  | { readonly fact: 'begun'; readonly rate: number | null }
  | { readonly fact: 'paused' }

export interface BackfillDecision {
  readonly audit: NewAudit
  readonly name: string
  readonly move: BackfillMove
}

export type BackfillDecided =
  | { readonly kind: 'decided'; readonly backfill: BackfillView; readonly repeated: boolean }
  /** It cannot follow on its state, or the digest is another one. Nothing was written. */
  | { readonly kind: 'refused'; readonly backfill: BackfillView | null }
  /** Another decision was made under this id; nothing was written. */
  | { readonly kind: 'other'; readonly existing: AuditRecord }

export interface BackfillLease {
  readonly name: string
  readonly worker: WorkerId
  readonly now: Instant
  readonly leaseMs: number
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

/** What is asked of a delivery before it is taken in. */
export interface DeliveryQuestion {
  readonly eventId: string
  readonly delivery: DeliveryDigest
  readonly fingerprint: Fingerprint
}
export type DeliveryKnown = 'new' | 'duplicate' | 'conflicting'

/** A row, whatever the database. */
export interface BackfillRow extends BackfillView {
  /** By the store's clock. */
  readonly leaseUntil: Instant | null
}

export function plannedAnew({ name, plan }: NewBackfill, known: BackfillRow | null): BackfillRow | null {
  const state = known === null ? 'planned' : moveBackfill(known.state, 'planned')
  if (state === null) return null
  const run: BackfillRun = {
    approval: null,
    rate: null,
    chunks: 0,
    items: 0,
    counts: noCounts,
    begunAt: null,
    resumedAt: null,
    resumedItems: 0,
    changedAt: plan.at,
    endedAt: null,
    halted: null,
  }
  const version = (known?.version ?? 0) + 1
  return { name, state, version, plan, run, worker: null, leaseUntil: null }
}

/** @returns null when the decision cannot follow */
export function decidedOn(row: BackfillRow, { move, audit }: BackfillDecision): BackfillRow | null {
  if (move.fact === 'approved' && move.digest !== row.plan.digest) return null
  const { at, operator: by, reason, decision } = audit
  switch (move.fact) {
    case 'approved':
      return moved(row, 'approved', at, { approval: { by, at, reason, decision } })
    case 'begun':
      return moved(row, 'begun', at, {
        rate: move.rate,
        begunAt: row.run.begunAt ?? at,
        resumedAt: at,
        resumedItems: row.run.items,
        halted: null,
      })
    case 'paused':
      return moved(row, 'paused', at, {})
  }
}

/** @param now by the store's clock @returns null when it is not running, or somebody else's */
export function leasedTo(
  row: BackfillRow,
  { worker, leaseMs }: BackfillLease,
  now: Instant,
): BackfillRow | null {
  const isFree = row.leaseUntil === null || row.leaseUntil <= now || row.worker === worker
  return row.state === 'running' && isFree ? { ...row, worker, leaseUntil: now + leaseMs } : null
}

export function isTurnOf({ state, worker, run }: BackfillView, given: ChunkAcceptance): boolean {
  return state === 'running' && worker === given.worker && run.chunks === given.chunk
}

/** @param now by the store's clock */
export function afterChunk(
  row: BackfillRow,
  given: ChunkAcceptance,
  answers: readonly Accepted[],
  now: Instant,
): BackfillRow {
  const { run, plan } = row
  const taken = {
    chunks: run.chunks + 1,
    items: run.items + given.items,
    counts: addCounts(run.counts, [...given.others, ...answers.map(figureOf)]),
  }
  const leased = { ...row, leaseUntil: now + given.leaseMs }
  if (taken.chunks < plan.chunks) return { ...leased, run: { ...run, ...taken, changedAt: given.now } }
  return moved(leased, 'done', given.now, { ...taken, endedAt: given.now })!
}

/** @param halted null: it is merely left, for another worker */
export function leftBy(
  row: BackfillRow,
  { worker, at, halted }: { readonly worker: WorkerId; readonly at: Instant; readonly halted: string | null },
): BackfillRow | null {
  if (row.worker !== worker || row.state !== 'running') return null
  return halted === null ? { ...row, worker: null, leaseUntil: null } : moved(row, 'halted', at, { halted })
}

function moved(
  row: BackfillRow,
  fact: BackfillFact,
  at: Instant,
  change: Partial<BackfillRun>,
): BackfillRow | null {
  const state = moveBackfill(row.state, fact)
  if (state === null) return null
  const run = { ...row.run, ...change, changedAt: at }
  return { ...row, state, version: row.version + 1, run, worker: null, leaseUntil: null }
}

/** A copy of what was quarantined or conflicted before is a duplicate, whatever it repeats. */
export function figureOf(answer: Accepted): BackfillFigure {
  switch (answer.outcome) {
    case 'accepted':
      return 'new'
    case 'duplicate':
      return 'duplicate'
    case 'conflict':
      return answer.repeated ? 'duplicate' : 'conflicting'
    case 'quarantined':
      return answer.repeated ? 'duplicate' : figureOfReason(answer.reason)
  }
}

export function figureOfReason(reason: QuarantineReason): BackfillFigure {
  switch (reason) {
    case 'schema-failure':
      return 'schemaFailure'
    case 'not-representable':
      return 'notRepresentable'
    case 'beyond-retention':
      return 'beyondRetention'
    case 'identity-conflict':
    case 'effect-conflict':
      return 'conflicting'
    case 'unsupported-type':
    case 'plan-failed':
      return 'unsupported'
  }
}

export function toBackfill(row: Record<string, any>): BackfillRow {
  const { name, state, version, worker, lease_until: leaseUntil } = row
  return { name, state, version, plan: JSON.parse(row.plan), run: JSON.parse(row.run), worker, leaseUntil }
}

/** The values of name, state, version, plan, run, worker and lease_until. */
export function backfillValues(row: BackfillRow): (string | number | null)[] {
  const { name, state, version, plan, run, worker, leaseUntil } = row
  return [name, state, version, JSON.stringify(plan), JSON.stringify(run), worker, leaseUntil]
}

export function viewOf({ leaseUntil: _, ...view }: BackfillRow): BackfillView {
  return view
}

export function toChunk(row: Record<string, any>): BackfillChunk {
  const { number, at, before, items } = row
  return { number, at, before, items, digest: Buffer.from(row.digest).toString('hex') }
}
