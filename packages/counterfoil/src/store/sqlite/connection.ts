import { DatabaseSync } from 'node:sqlite'
import type { Plan } from '../store.ts'
import { Accept } from './accept.ts'
import { Counts } from './counts.ts'
import { Effects } from './effects.ts'
import { migrate } from './migrate.ts'
import { Outbox } from './outbox.ts'
import { Planning } from './plan.ts'
import type { WorkerOptions } from './protocol.ts'
import { Reading } from './read.ts'

/** A connection and every statement prepared on it. */
export interface Connection {
  readonly db: DatabaseSync
  readonly counts: Counts
  readonly planning: Planning
  /** The port's calls, by name; each runs in the transaction that is open. */
  readonly calls: Readonly<Record<string, (argument: any) => unknown>>
}

/** Calls that only read: a batch of them needs no write lock. */
export const readingCalls: ReadonlySet<string> = new Set([
  'status',
  'listReceipts',
  'showReceipt',
  'listEffects',
  'showEffects',
  'listQuarantine',
  'showQuarantine',
  'readVault',
])

/** Opens the file: WAL, a commit is on the disk before it is told (`synchronous = full`), waits for other writers. */
export function openDatabase({ path, busyTimeoutMs, synchronous }: WorkerOptions): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: busyTimeoutMs })
  try {
    db.exec(
      `pragma journal_mode = wal; pragma synchronous = ${synchronous}; pragma foreign_keys = off; pragma cache_size = -32000`,
    )
    // Finds a file that cannot be written now rather than at the first delivery.
    db.exec('begin immediate; rollback')
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

export { migrate }

/** @throws what SQLite throws when the schema is not there */
export function prepare(db: DatabaseSync): Connection {
  const counts = new Counts(db)
  const accept = new Accept(db, counts)
  const outbox = new Outbox(db, accept, counts)
  const planning = new Planning(db, outbox, counts)
  const reading = new Reading(db, counts)
  const effects = new Effects(db, reading, counts)
  return {
    db,
    counts,
    planning,
    calls: {
      accept: (entry) => accept.accept(entry),
      claimOutbox: (claim) => outbox.claim(claim),
      plan: (plan: Plan) => {
        const conflict = planning.conflict(plan)
        if (conflict === null) return planning.write(plan)
        planning.refuse(plan, conflict)
        return conflict
      },
      postponePlan: (record) => outbox.postpone(record),
      quarantinePlan: (record) => outbox.quarantine(record),
      consumeAlert: (record) => outbox.consumeAlert(record),
      takeDue: (claim) => effects.takeDue(claim),
      beginRepeat: (repeat) => effects.beginRepeat(repeat),
      renew: (renewal) => effects.renew(renewal),
      settle: (settlement) => effects.settle(settlement),
      status: () => reading.status(),
      listReceipts: (query) => reading.listReceipts(query),
      showReceipt: (id) => reading.showReceipt(id),
      listEffects: (query) => reading.listEffects(query),
      showEffects: (name) => reading.showEffects(name),
      listQuarantine: (page) => reading.listQuarantine(page),
      showQuarantine: (id) => reading.showQuarantine(id),
      readVault: (ref) => reading.readVault(ref),
    },
  }
}
