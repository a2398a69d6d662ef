import {
  addCounts,
  type BackfillFact,
  type BackfillFigure,
  type Instant,
  moveBackfill,
  noCounts,
  type WorkerId,
} from '../domain/index.ts'
import type {
  BackfillChunk,
  BackfillDecision,
  BackfillLease,
  BackfillRun,
  BackfillView,
  NewBackfill,
} from './backfills.ts'
import type { QuarantineReason } from './records.ts'
import type { Accepted, ChunkAcceptance } from './store.ts'

/** The moves of backfills, which both stores make alike: a row in, the next one out, or null where it cannot be. */

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
