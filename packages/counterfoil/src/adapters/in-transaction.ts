import { CounterfoilError } from '../domain/index.ts'
import type { SqlExecutor } from '../store/index.ts'
import { withSqlState } from './sql-state.ts'

/**
 * Asks PostgreSQL whether a handle is in a transaction, for clients that cannot tell: outside of one a savepoint
 * is an error (25P01), and so is any statement once the transaction has failed (25P02).
 *
 * @returns the executor, whose errors tell their code in one place whatever the client
 * @throws CounterfoilError `transaction_missing`
 */
export async function inTransaction(client: string, executor: SqlExecutor): Promise<SqlExecutor> {
  try {
    await executor.query('savepoint counterfoil', [])
    await executor.query('release savepoint counterfoil', [])
  } catch (error) {
    throw transactionMissing(client, error)
  }
  return {
    dialect: executor.dialect,
    query: (sql, parameters) =>
      executor.query(sql, parameters).catch((error: unknown) => {
        throw withSqlState(error)
      }),
  }
}

/** On such a handle each statement would be a transaction of its own. */
export function transactionMissing(client: string, cause?: unknown): CounterfoilError {
  return new CounterfoilError(
    'transaction_missing',
    `The handle of ${client} is not in a transaction, or its transaction has failed or is over.`,
    { hint: 'Pass the handle that the client gave for the transaction, and await all inside of it.', cause },
  )
}
