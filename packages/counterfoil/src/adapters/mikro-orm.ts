import type { SqlEntityManager } from '@mikro-orm/postgresql'
import type { SqlExecutor, Transactions } from '../store/index.ts'
import { transactionMissing } from './in-transaction.ts'
import { kyselyExecutor } from './kysely.ts'
import { isOvertaken } from './sql-state.ts'

/** `@mikro-orm/postgresql`, version 7. Each plan gets a fork, so that plans share no identity map. */
export function mikroOrm<Manager extends SqlEntityManager<any>>(em: Manager): Transactions<Manager> {
  return {
    client: 'mikro-orm',
    run: (work) => (em.fork() as Manager).transactional((tx) => work(tx as Manager)),
    isOvertaken,
    executor: executorOf,
  }
}

/**
 * Its `em.execute` would write parameters into the statement; the transaction below it, which is one of Kysely,
 * sends them apart.
 */
async function executorOf(em: SqlEntityManager<any>): Promise<SqlExecutor> {
  const context = em.isInTransaction() ? em.getTransactionContext<any>() : undefined
  if (context === undefined) throw transactionMissing('mikro-orm')
  return await kyselyExecutor(context)
}
