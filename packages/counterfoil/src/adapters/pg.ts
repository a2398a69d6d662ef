import type { ClientBase, Pool, PoolClient } from 'pg'
import { CounterfoilError } from '../domain/index.ts'
import type { SqlExecutor, Transactions } from '../store/index.ts'
import { inTransaction, transactionMissing } from './in-transaction.ts'
import { isOvertaken, sqlState } from './sql-state.ts'

/** `pg` (node-postgres): transactions on clients of this pool. */
export function pg(pool: Pool): Transactions<ClientBase> {
  return {
    client: 'pg',
    run: (work) => transaction(pool, work),
    isOvertaken,
    executor: executorOf,
  }
}

async function executorOf(client: ClientBase): Promise<SqlExecutor> {
  const executor: SqlExecutor = {
    dialect: 'postgres',
    query: async (sql, parameters) => {
      try {
        return (await client.query(sql, [...parameters])).rows
      } catch (error) {
        // The driver tells of a failed statement before it hears how the transaction stands.
        throw sqlState(error) === '25P02' ? transactionMissing('pg', error) : error
      }
    },
  }
  // Older versions do not know: then the database is asked.
  const status = client.getTransactionStatus?.()
  if (status === undefined) return await inTransaction('pg', executor)
  if (status !== 'T') throw transactionMissing('pg')
  return executor
}

async function transaction<Result>(pool: Pool, work: (tx: ClientBase) => Promise<Result>): Promise<Result> {
  const client = await pool.connect()
  // Nobody else listens while it is checked out, and a connection that is lost would end the process.
  const lost = () => {}
  client.on('error', lost)
  let broken: Error | undefined
  try {
    await client.query('begin')
    try {
      const result = await work(client)
      await commit(client)
      return result
    } catch (error) {
      await client.query('rollback').catch((failed: Error) => {
        broken = failed
      })
      throw error
    }
  } finally {
    client.off('error', lost)
    client.release(broken)
  }
}

/** A transaction in which a statement failed answers COMMIT with ROLLBACK, and not with an error. */
async function commit(client: PoolClient): Promise<void> {
  const { command } = await client.query('commit')
  if (command !== 'COMMIT') {
    throw new CounterfoilError('store_unavailable', 'A statement failed unnoticed: all was rolled back.')
  }
}
