import { constants, type DatabaseSync } from 'node:sqlite'
import { CounterfoilError } from '../../domain/index.ts'
import type { Statement } from './protocol.ts'

/**
 * Runs one statement of a trigger on the program's own tables. The transaction is ours to end and our tables
 * are ours to write: SQLite's authorizer refuses the rest while the statement is prepared.
 */
export function runUserStatement(db: DatabaseSync, { kind, sql, parameters }: Statement): unknown {
  db.setAuthorizer((action, first, second) =>
    isRefused(action, first, second) ? constants.SQLITE_DENY : constants.SQLITE_OK,
  )
  try {
    const statement = db.prepare(sql)
    switch (kind) {
      case 'run':
        return { changes: Number(statement.run(...parameters).changes) }
      case 'get':
        return statement.get(...parameters)
      case 'all':
        return statement.all(...parameters)
    }
  } catch (error) {
    if (error instanceof Error && /not authorized|prohibited/.test(error.message)) {
      throw new CounterfoilError('transaction_closed', `A trigger may not run: ${sql.slice(0, 200)}`, {
        hint: 'Begin, commit, attach and pragma are not for triggers, and counterfoil_* tables may only be read.',
      })
    }
    throw error
  } finally {
    db.setAuthorizer(null)
  }
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
  return (
    !reads.has(action) &&
    [first, second].some((name) => name?.toLowerCase().startsWith('counterfoil_') ?? false)
  )
}
