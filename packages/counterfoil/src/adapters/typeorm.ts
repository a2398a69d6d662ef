import type { DataSource, EntityManager } from 'typeorm'
import type { SqlExecutor, Transactions } from '../store/index.ts'
import { inTransaction, transactionMissing } from './in-transaction.ts'
import { isOvertaken } from './sql-state.ts'

/** `typeorm`, with a data source of type `postgres`. Of a query runner, pass its `manager`. */
export function typeorm(dataSource: DataSource): Transactions<EntityManager> {
  return {
    client: 'typeorm',
    run: (work) => dataSource.transaction(work),
    isOvertaken,
    executor: executorOf,
  }
}

async function executorOf({ queryRunner }: EntityManager): Promise<SqlExecutor> {
  if (queryRunner === undefined || queryRunner.isReleased || !queryRunner.isTransactionActive) {
    throw transactionMissing('typeorm')
  }
  return await inTransaction('typeorm', {
    dialect: 'postgres',
    // Structured: what else it gives differs from one kind of statement to the next.
    query: async (sql, parameters) => (await queryRunner.query(sql, [...parameters], true)).records,
  })
}
