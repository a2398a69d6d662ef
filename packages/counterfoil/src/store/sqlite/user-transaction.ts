import { realpathSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { CounterfoilError } from '../../domain/index.ts'
import { notBeyond } from '../beyond.ts'
import type { Marking } from '../marking.ts'
import type { SqlExecutor } from '../sql-executor.ts'
import type { Acceptance, Accepted, Plan, Planned } from '../store.ts'
import { Accept } from './accept.ts'
import { Counts } from './counts.ts'
import { failureOf, toError } from './failure.ts'
import { Markers } from './markers.ts'
import { Outbox } from './outbox.ts'
import { pack, packedBytes } from './packing.ts'
import { Planning } from './plan.ts'
import { Quarantine } from './quarantine.ts'
import { steady } from './steady.ts'

/** A transaction of the program's own connection to the store's file. */
export interface SqliteExecutor extends SqlExecutor {
  readonly dialect: 'sqlite'
  readonly database: DatabaseSync
}

interface Statements {
  readonly counts: Counts
  readonly markers: Markers
  readonly accept: Accept
  readonly planning: Planning
}

/** Prepared once for each connection, and gone with it. */
const prepared = new WeakMap<DatabaseSync, Statements>()

export function acceptIn(
  executor: SqlExecutor,
  path: string,
  entry: Acceptance,
  marking: Marking | undefined,
): Accepted {
  const database = databaseOf(executor, path)
  const answer = within(database, path, marking, ({ accept }) => {
    const block = Buffer.alloc(packedBytes(entry))
    return accept.accept(pack(entry, block, 0), block)
  })
  return notBeyond(answer)
}

export function planIn(
  executor: SqlExecutor,
  path: string,
  plan: Plan,
  marking: Marking | undefined,
): Planned {
  const database = databaseOf(executor, path)
  const isPlanned = ({ kind }: Planned) => kind === 'planned'
  return within(database, path, marking, ({ planning }) => planning.plan(plan, () => {}), isPlanned)
}

/** All of it or nothing, also when the program catches the error and commits what else it has written. */
function within<Value>(
  database: DatabaseSync,
  path: string,
  marking: Marking | undefined,
  work: (statements: Statements) => Value,
  keeps: (value: Value) => boolean = () => true,
): Value {
  try {
    const statements = prepared.get(database) ?? prepare(database)
    statements.markers.marking = marking
    database.exec('savepoint counterfoil')
    let kept = false
    try {
      const value = work(statements)
      kept = keeps(value)
      if (kept) statements.counts.write()
      return value
    } catch (error) {
      kept = false
      throw error
    } finally {
      statements.counts.forget()
      end(database, kept)
    }
  } catch (error) {
    const failure = failureOf(error, path)
    throw failure.code === 'internal' ? error : toError(failure)
  }
}

function end(database: DatabaseSync, kept: boolean): void {
  // A full disk ends the whole transaction: then there is no savepoint any more.
  if (!database.isTransaction) return
  database.exec(kept ? 'release counterfoil' : 'rollback to counterfoil; release counterfoil')
}

function prepare(given: DatabaseSync): Statements {
  const database = steady(given)
  const counts = new Counts(database)
  const quarantine = new Quarantine(database, counts)
  const markers = new Markers(database, undefined)
  const statements = {
    counts,
    markers,
    accept: new Accept(database, quarantine, markers, counts),
    planning: new Planning(database, new Outbox(database, quarantine, counts), markers, counts),
  }
  prepared.set(given, statements)
  return statements
}

function databaseOf(executor: SqlExecutor, path: string): DatabaseSync {
  if (!isSqlite(executor)) {
    throw new CounterfoilError(
      'transaction_foreign',
      `The store ${path} is SQLite, and the transaction is not one of node:sqlite.`,
      { hint: 'Use counterfoil/adapters/node-sqlite, with a DatabaseSync on the same file.' },
    )
  }
  const { database } = executor
  const file = database.location()
  if (file === null || realpathSync(file) !== realpathSync(path)) {
    throw new CounterfoilError(
      'transaction_foreign',
      `The transaction writes ${file ?? 'a database in memory'}, and the store is ${path}.`,
      { hint: 'Only what is in one file commits together: open the DatabaseSync on the store’s file.' },
    )
  }
  if (!database.isTransaction) {
    throw new CounterfoilError('transaction_missing', `No transaction is open on ${path}.`, {
      hint: 'Begin one first, best with BEGIN IMMEDIATE.',
    })
  }
  return database
}

function isSqlite(executor: SqlExecutor): executor is SqliteExecutor {
  return executor.dialect === 'sqlite' && 'database' in executor
}
