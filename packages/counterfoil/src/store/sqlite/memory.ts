import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { CounterfoilError } from '../../domain/index.ts'
import type { Store } from '../store.ts'
import { prepare } from './connection.ts'
import { Desk } from './desk.ts'
import { InProcess, Replies } from './in-process.ts'
import { Link } from './link.ts'
import { bringUp } from './migrate.ts'
import type { After } from './session.ts'
import { SqliteStore } from './store.ts'

const options = { path: ':memory:', busyTimeoutMs: 0, synchronous: 'off' } as const

export interface MemoryDatabaseOptions {
  /** Time for the limit of a trigger's transaction. Default: real time. */
  readonly after?: After
}

/** One process's way to a `MemoryDatabase`. */
export interface MemoryHandle {
  readonly store: Store
  /** The process has died: the trigger's transaction that it had open is rolled back. */
  abandon(): void
}

/**
 * The tables and statements of the SQLite store in memory and in this thread: for tests, in which several handles
 * stand for several processes on one file. Nothing of it is durable, so it refuses to be made in production.
 *
 * @throws CounterfoilError `store_not_durable` where `NODE_ENV` or `COUNTERFOIL_ENV` is `production`
 */
export class MemoryDatabase {
  /** For looking on; what is written here is seen by every handle. */
  readonly db: DatabaseSync
  readonly #desk: Desk
  readonly #replies = new Replies()
  readonly #clear: readonly StatementSync[]
  #clearing = false

  constructor({ after }: MemoryDatabaseOptions = {}) {
    const { NODE_ENV, COUNTERFOIL_ENV } = process.env
    if (NODE_ENV === 'production' || COUNTERFOIL_ENV === 'production') {
      throw new CounterfoilError('store_not_durable', 'A store in memory loses every receipt at its end.', {
        hint: 'In production use sqlite(FILE) or postgres(URL).',
      })
    }
    this.db = new DatabaseSync(options.path)
    this.db.exec('pragma foreign_keys = on; pragma temp_store = memory')
    bringUp(this.db, options.path)
    this.#openAudit()
    this.#clear = tablesByReference(this.db).map((table) => this.db.prepare(`delete from ${table}`))
    const link = new Link(options)
    link.adopt(prepare(this.db))
    this.#desk = new Desk(link, (message) => this.#replies.arrive(message), after)
  }

  handle(): MemoryHandle {
    const way = new InProcess(this.#desk, this.#replies)
    return { store: new SqliteStore(options, { thread: way, calls: way }), abandon: () => way.abandon() }
  }

  /** Empties every table, which is cheaper than another database. No handle is in use. */
  clear(): void {
    this.#clearing = true
    try {
      this.db.exec('begin')
      for (const statement of this.#clear) statement.run()
      this.db.exec('commit')
    } finally {
      this.#clearing = false
    }
  }

  close(): void {
    this.db.close()
  }

  /**
   * The trigger that keeps the audit log whole stands aside while the database is cleared, and at no other time. To drop it
   * then, or to switch foreign keys off, would have SQLite prepare every statement again.
   */
  #openAudit(): void {
    const { sql } = this.db
      .prepare("select sql from sqlite_schema where name = 'counterfoil_audit_whole'")
      .get() as { sql: string }
    this.db.function('counterfoil_clearing', () => (this.#clearing ? 1 : 0))
    const aside = sql.replace(/ on counterfoil_audit\b/, '$& when counterfoil_clearing() = 0')
    this.db.exec(`drop trigger counterfoil_audit_whole; ${aside}`)
  }
}

/** Every table of ours that is not the migrations', those before that refer to others. */
function tablesByReference(db: DatabaseSync): string[] {
  const referring = db.prepare('select "table" as target from pragma_foreign_key_list(?)')
  const tables = db
    .prepare(
      "select name from sqlite_schema where type = 'table' and name like 'counterfoil%' and name <> 'counterfoil_migration'",
    )
    .all()
    .map(({ name }) => String(name))
  const ordered: string[] = []
  const add = (table: string) => {
    if (ordered.includes(table)) return
    for (const other of tables) {
      const refers = referring.all(other).some(({ target }) => target === table)
      if (refers && other !== table) add(other)
    }
    ordered.push(table)
  }
  for (const table of tables) add(table)
  return [...ordered, 'sqlite_sequence']
}
