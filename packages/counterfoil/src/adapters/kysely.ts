import type { CompiledQuery, Kysely, Transaction } from 'kysely'
import type { SqlExecutor, SqlValue, Transactions } from '../store/index.ts'
import { inTransaction, transactionMissing } from './in-transaction.ts'
import { isOvertaken } from './sql-state.ts'

/** `kysely`, with a dialect for PostgreSQL. */
export function kysely<Database>(db: Kysely<Database>): Transactions<Transaction<Database>> {
  return {
    client: 'kysely',
    run: (work) => db.transaction().execute(work),
    isOvertaken,
    executor: kyselyExecutor,
  }
}

/** @throws CounterfoilError `transaction_missing` */
export async function kyselyExecutor(tx: Transaction<any>): Promise<SqlExecutor> {
  if (!tx.isTransaction) throw transactionMissing('kysely')
  // Plugins may rename columns or change values.
  const plain = tx.withoutPlugins()
  return await inTransaction('kysely', {
    dialect: 'postgres',
    async query(sql, parameters) {
      const { rows } = await plain.executeQuery(compiled(sql, parameters))
      return rows as Record<string, unknown>[]
    },
  })
}

/** What `CompiledQuery.raw` makes; written out, so that the package itself is imported for its types alone. */
function compiled(sql: string, parameters: readonly SqlValue[]): CompiledQuery {
  return {
    query: { kind: 'RawNode', sqlFragments: [sql], parameters: [] },
    queryId: { queryId: 'counterfoil' },
    sql,
    parameters,
  }
}
