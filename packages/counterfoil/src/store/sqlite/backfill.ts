import type { DatabaseSync } from 'node:sqlite'
import {
  afterChunk,
  type BackfillRow,
  backfillValues,
  decidedOn,
  isTurnOf,
  leasedTo,
  leftBy,
  plannedAnew,
  toBackfill,
  toChunk,
  viewOf,
} from '../backfill-moves.ts'
import type {
  BackfillChunk,
  BackfillDecided,
  BackfillDecision,
  BackfillLease,
  BackfillPlanned,
  BackfillView,
  NewBackfill,
} from '../backfills.ts'
import { notBeyond } from '../beyond.ts'
import type { ChunkAccepted, Store } from '../store.ts'
import type { Accept } from './accept.ts'
import type { AuditLog } from './audit.ts'
import type { PackedChunk } from './packing.ts'

/** Backfills: few rows, and the moves of store/backfills.ts on them. */
export class Backfills {
  readonly #accept: Accept
  readonly #audit: AuditLog
  readonly #row
  readonly #all
  readonly #keep
  readonly #forget
  readonly #addChunk
  readonly #chunks

  constructor(db: DatabaseSync, accept: Accept, audit: AuditLog) {
    this.#accept = accept
    this.#audit = audit
    this.#row = db.prepare('select * from counterfoil_backfill where name = ?')
    this.#all = db.prepare('select * from counterfoil_backfill order by name')
    this.#keep = db.prepare(`
      insert into counterfoil_backfill (name, state, version, plan, run, worker, lease_until) values (?, ?, ?, ?, ?, ?, ?)
      on conflict (name) do update set state = excluded.state, version = excluded.version, plan = excluded.plan,
        run = excluded.run, worker = excluded.worker, lease_until = excluded.lease_until`)
    this.#forget = db.prepare('delete from counterfoil_backfill_chunk where backfill = ?')
    this.#addChunk = db.prepare(
      'insert into counterfoil_backfill_chunk (backfill, number, at, before, items, digest) values (?, ?, ?, ?, ?, ?)',
    )
    this.#chunks = db.prepare(
      'select * from counterfoil_backfill_chunk where backfill = ? and number >= ? order by number limit ?',
    )
  }

  plan(given: NewBackfill): BackfillPlanned {
    const known = this.#of(given.name)
    const row = plannedAnew(given, known)
    if (row === null) return { kind: 'refused', backfill: viewOf(known!) }
    this.#write(row)
    this.#forget.run(given.name)
    for (const { number, at, before, items, digest } of given.chunks) {
      this.#addChunk.run(given.name, number, at, before, items, Buffer.from(digest, 'hex'))
    }
    return { kind: 'planned', backfill: viewOf(row) }
  }

  decide(decision: BackfillDecision): BackfillDecided {
    const row = this.#of(decision.name)
    const made = this.#audit.made(decision.audit)
    if (made?.kind === 'other') return made
    if (made !== null && row !== null) return { kind: 'decided', backfill: viewOf(row), repeated: true }
    const next = row === null ? null : decidedOn(row, decision)
    if (next === null) return { kind: 'refused', backfill: row && viewOf(row) }
    this.#audit.append({ ...decision.audit, result: { state: next.state, version: next.version } })
    this.#write(next)
    return { kind: 'decided', backfill: viewOf(next), repeated: false }
  }

  lease(lease: BackfillLease): BackfillView | null {
    const row = this.#of(lease.name)
    const next = row && leasedTo(row, lease, lease.now)
    if (next === null) return null
    this.#write(next)
    return viewOf(next)
  }

  acceptChunk(chunk: PackedChunk, block: Uint8Array): ChunkAccepted {
    const row = this.#of(chunk.name)
    const given = { ...chunk, entries: [] }
    if (row === null || !isTurnOf(row, given)) return { kind: 'lost', backfill: row && viewOf(row) }
    const answers = chunk.entries.map((entry) => notBeyond(this.#accept.accept(entry, block)))
    const next = afterChunk(row, given, answers, chunk.now)
    this.#write(next)
    return { kind: 'taken', backfill: viewOf(next) }
  }

  leave(leave: Parameters<Store['leaveBackfill']>[0]): void {
    const row = this.#of(leave.name)
    const next = row && leftBy(row, leave)
    if (next !== null) this.#write(next)
  }

  list(): BackfillView[] {
    return this.#all.all().map((row) => viewOf(toBackfill(row)))
  }

  show(name: string): BackfillView | null {
    const row = this.#of(name)
    return row && viewOf(row)
  }

  chunks({ name, from, limit }: Parameters<Store['backfillChunks']>[0]): BackfillChunk[] {
    return this.#chunks.all(name, from, limit).map(toChunk)
  }

  #of(name: string): BackfillRow | null {
    const row = this.#row.get(name)
    return row === undefined ? null : toBackfill(row)
  }

  #write(row: BackfillRow): void {
    this.#keep.run(...backfillValues(row))
  }
}
