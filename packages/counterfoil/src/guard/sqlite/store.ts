import { DatabaseSync } from 'node:sqlite'
import { type Clock, CounterfoilError } from '../../domain/index.ts'
import { type Applied, checkPrefix, pending } from '../migrations.ts'
import { runAtOnce, type Steps } from '../steps.ts'
import { endedByHandler, type GuardStore, type Outcome, outsideTransaction, type Session } from '../store.ts'
import { migrations } from './migrations.ts'
import { Statements } from './statements.ts'

/** Settings of a guard's records on SQLite. */
export interface SqliteGuardOptions {
  /** Begins the names of the guard's tables. Default `guard_`. */
  readonly prefix?: string
  /** Default: the machine's. Several processes on one file share it. */
  readonly clock?: Pick<Clock, 'now'>
}

/**
 * Keeps the guard's records in a SQLite database of the owner.
 *
 * A handler gets the connection inside `begin immediate` and must be done when it returns: the whole transaction
 * lies in one turn of the event loop, so nobody else's statement can come between. That also means that no
 * request of this process is ever in flight for another one; other processes wait, up to the connection's
 * `timeout`.
 *
 * @param database the owner's connection, or a file that is opened in WAL mode with `synchronous = full`
 */
export function sqliteGuardStore(
  database: DatabaseSync | string,
  options: SqliteGuardOptions = {},
): GuardStore<DatabaseSync, 'sync'> {
  const prefix = checkPrefix(options.prefix ?? 'guard_')
  const clock = options.clock ?? Date
  const own = typeof database === 'string'
  const db = own ? open(database) : database
  const prepared = new WeakMap<DatabaseSync, Statements>()

  function statementsOf(tx: DatabaseSync): Statements {
    let statements = prepared.get(tx)
    if (statements === undefined) {
      statements = new Statements(tx, prefix)
      prepared.set(tx, statements)
    }
    return statements
  }

  function sessionOn(tx: DatabaseSync): Session<DatabaseSync> {
    const statements = statementsOf(tx)
    return {
      tx,
      claim: (id) => {
        const row = id === null ? null : statements.readKey(id)
        return { inFlight: false, row, now: clock.now() }
      },
      raise: (place) => statements.raise(place, clock.now()),
      keep(answer) {
        // Outside of it the record would stay while the work was undone.
        if (!tx.isTransaction) throw endedByHandler()
        statements.keep(answer)
      },
      close: (tombstone) => statements.close(tombstone),
    }
  }

  function transact<Value>(work: () => Outcome<Value>): Value {
    begin(db)
    let outcome: Outcome<Value>
    try {
      outcome = work()
    } catch (error) {
      if (db.isTransaction) db.exec('rollback')
      throw error
    }
    if (!db.isTransaction) throw endedByHandler()
    if (outcome.commit) commit(db)
    else db.exec('rollback')
    return outcome.value
  }

  return {
    mode: 'sync',
    async migrate() {
      transact(() => ({ commit: true, value: migrate(db, prefix) }))
    },
    async transaction<Value>(work: (session: Session<DatabaseSync>) => Steps<Outcome<Value>>) {
      return transact(() => runAtOnce(work(sessionOn(db))))
    },
    inside(tx, work) {
      if (!tx.isTransaction) {
        throw outsideTransaction('begin immediate')
      }
      return runAtOnce(work(sessionOn(tx)))
    },
    async clean({ forgetKeys, limit }) {
      return transact(() => ({ commit: true, value: statementsOf(db).clean(forgetKeys, clock.now(), limit) }))
    },
    async close() {
      if (own) db.close()
    },
  }
}

function open(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: 5_000 })
  db.exec('pragma journal_mode = wal; pragma synchronous = full')
  return db
}

function begin(db: DatabaseSync): void {
  if (db.isTransaction) {
    throw new CounterfoilError(
      'store_unavailable',
      "The owner's connection is inside a transaction already.",
      {
        hint: 'Use guard.inside() within a transaction of your own, or give the guard a connection of its own.',
      },
    )
  }
  try {
    // Takes the write lock at once: what is read below cannot be overtaken.
    db.exec('begin immediate')
  } catch (cause) {
    throw new CounterfoilError('store_busy', 'The database gave no transaction; nothing was done.', { cause })
  }
}

function commit(db: DatabaseSync): void {
  try {
    db.exec('commit')
  } catch (cause) {
    if (db.isTransaction) db.exec('rollback')
    throw new CounterfoilError('commit_unknown', 'The database cannot tell whether it committed.', { cause })
  }
}

/** Holds the write lock, so that two processes that start at once do not both migrate. */
function migrate(db: DatabaseSync, prefix: string): void {
  db.exec(
    `create table if not exists ${prefix}migration (version integer primary key, name text not null, checksum text not null, applied_at text not null default current_timestamp) strict`,
  )
  const applied = db.prepare(`select version, checksum from ${prefix}migration order by version`).all()
  const record = db.prepare(`insert into ${prefix}migration (version, name, checksum) values (?, ?, ?)`)
  for (const { version, name, checksum, sql } of pending(
    migrations,
    applied as unknown as Applied[],
    prefix,
  )) {
    db.exec(sql)
    record.run(version, name, checksum)
  }
}
