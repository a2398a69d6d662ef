import { constants, type DatabaseSync, type StatementSync } from 'node:sqlite'
import { CounterfoilError } from '../../domain/index.ts'
import type { SqlValue } from '../store.ts'
import type { Statement } from './protocol.ts'

/**
 * Runs a trigger's statements on the program's own tables. The transaction is ours to end and our tables are
 * ours to write: SQLite's authorizer refuses the rest while a statement is prepared, and so what a statement
 * would do through the program's own SQL triggers or views too.
 */
export class TriggerStatements {
  readonly #db: DatabaseSync
  #guarding = false
  #refused = false

  constructor(db: DatabaseSync) {
    this.#db = db
    // Set once for the connection: setting it anew would have every prepared statement prepared again.
    db.setAuthorizer((action, first, second) => {
      if (!this.#guarding || !isRefused(action, first, second)) return constants.SQLITE_OK
      this.#refused = true
      return constants.SQLITE_DENY
    })
  }

  /** @throws CounterfoilError `statement_refused`, or what SQLite throws */
  run({ kind, sql, parameters }: Statement): unknown {
    this.#guarding = true
    this.#refused = false
    try {
      const statement = this.#db.prepare(sql)
      checkSingle(statement, sql)
      // Integers beyond 2^53 are read whole rather than refused.
      statement.setReadBigInts(true)
      switch (kind) {
        case 'run':
          return { changes: Number(statement.run(...parameters).changes) }
        case 'get': {
          const row = statement.get(...parameters)
          return row === undefined ? undefined : plain(row)
        }
        case 'all':
          return statement.all(...parameters).map(plain)
      }
    } catch (error) {
      if (this.#refused) throw refused(sql)
      throw error
    } finally {
      this.#guarding = false
    }
  }
}

/** SQLite would run the first and pass over the rest in silence. */
function checkSingle(statement: StatementSync, sql: string): void {
  const rest = sql.slice(statement.sourceSQL.length)
  if (/^(\s|;|--[^\n]*(\n|$)|\/\*[\s\S]*?(\*\/|$))*$/.test(rest)) return
  throw new CounterfoilError(
    'statement_refused',
    `A trigger runs one statement at a time: ${sql.slice(0, 200)}`,
    {
      hint: 'Call tx.run once for each statement.',
    },
  )
}

function plain(row: Record<string, unknown>): Record<string, SqlValue> {
  const values: Record<string, SqlValue> = {}
  for (const [name, value] of Object.entries(row)) {
    const safe = typeof value === 'bigint' && BigInt.asIntN(54, value) === value
    values[name] = safe ? Number(value) : (value as SqlValue)
  }
  return values
}

function refused(sql: string): CounterfoilError {
  return new CounterfoilError('statement_refused', `A trigger may not run: ${sql.slice(0, 200)}`, {
    hint: 'Begin, commit, savepoint, attach and pragma are not for triggers, and counterfoil_* tables may only be read.',
  })
}

const control: ReadonlySet<number> = new Set([
  constants.SQLITE_TRANSACTION,
  constants.SQLITE_SAVEPOINT,
  constants.SQLITE_ATTACH,
  constants.SQLITE_DETACH,
  constants.SQLITE_PRAGMA,
])
const reads: ReadonlySet<number> = new Set([
  constants.SQLITE_READ,
  constants.SQLITE_SELECT,
  constants.SQLITE_FUNCTION,
])

function isRefused(action: number, first: string | null, second: string | null): boolean {
  if (control.has(action)) return true
  if (reads.has(action)) return false
  return [first, second].some((name) => name?.toLowerCase().startsWith('counterfoil_') ?? false)
}
