import type { ParameterOrJSON, Sql, TransactionSql } from 'postgres'
import type { SqlExecutor, Transactions } from '../store/index.ts'
import { inTransaction } from './in-transaction.ts'
import { isOvertaken } from './sql-state.ts'

/** `postgres` (postgres.js). */
export function postgresJs<Types extends Record<string, unknown>>(
  sql: Sql<Types>,
): Transactions<TransactionSql<Types>> {
  return {
    client: 'postgres.js',
    run: async <Result>(work: (tx: TransactionSql<Types>) => Promise<Result>) =>
      (await sql.begin(work)) as Result,
    isOvertaken,
    executor: (tx) => executorOf(tx, sql.options.transform.column.from),
  }
}

/** Asks the database: after the end of a transaction its handle's statements go through, each on its own. */
function executorOf(
  tx: TransactionSql<any>,
  rename: ((column: string) => string) | undefined,
): Promise<SqlExecutor> {
  return inTransaction('postgres.js', {
    dialect: 'postgres',
    async query(sql, parameters) {
      const rows = await tx.unsafe(sql, parameters as ParameterOrJSON<never>[])
      return rename === undefined ? [...rows] : rows.map((row) => underTheirNames(row, rename))
    },
  })
}

/** Where the client renames columns (`transform: postgres.camel`), a column is still found under the name it has. */
function underTheirNames(
  row: Record<string, unknown>,
  rename: (column: string) => string,
): Record<string, unknown> {
  return new Proxy(row, {
    get: (target, name) => target[typeof name === 'string' ? rename(name) : (name as never)],
  })
}
