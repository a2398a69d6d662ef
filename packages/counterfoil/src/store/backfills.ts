import type {
  BackfillCounts,
  BackfillState,
  DeliveryDigest,
  Fingerprint,
  Instant,
  WorkerId,
} from '../domain/index.ts'
import type { AuditRecord, NewAudit } from './records.ts'

/** Backfills as stores keep them. */

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

/** What is asked of a delivery before it is taken in. */
export interface DeliveryQuestion {
  readonly eventId: string
  readonly delivery: DeliveryDigest
  readonly fingerprint: Fingerprint
}
export type DeliveryKnown = 'new' | 'duplicate' | 'conflicting'
