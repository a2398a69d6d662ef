import type { DatabaseSync } from 'node:sqlite'
import { CounterfoilError } from '../domain/index.ts'
import type { Transactions } from '../store/index.ts'
import type { SqliteExecutor } from '../store/sqlite/index.ts'
import { transactionMissing } from './in-transaction.ts'

/** How long a connection waits for other writers that would not wait at all. */
const busyTimeoutMs = 5_000

/**
 * `node:sqlite`. Give it a connection on the store's file that nothing else uses: between two awaits of a
 * trigger everything that runs on it would be in the trigger's transaction. Plans take turns.
 *
 * Its writes wait for the store's own as long as the `timeout` of the connection says, 5 s where it has none, and
 * hold up the thread meanwhile.
 */
export function nodeSqlite(database: DatabaseSync): Transactions<DatabaseSync> {
  let last: Promise<unknown> = Promise.resolve()
  return {
    client: 'node:sqlite',
    run(work) {
      const turn = last.then(() => transaction(database, work))
      last = turn.catch(() => {})
      return turn
    },
    // It has the only write lock from its first statement on.
    isOvertaken: () => false,
    executor: async (tx) => executorOf(tx),
  }
}

function executorOf(database: DatabaseSync): SqliteExecutor {
  if (!database.isOpen || !database.isTransaction) {
    throw transactionMissing('node:sqlite')
  }
  return {
    dialect: 'sqlite',
    database,
    async query(sql, parameters) {
      const statement = database.prepare(sql)
      // Integers beyond 2^53 are read whole rather than refused.
      statement.setReadBigInts(true)
      return statement.all(...parameters)
    },
  }
}

async function transaction<Result>(
  database: DatabaseSync,
  work: (tx: DatabaseSync) => Promise<Result>,
): Promise<Result> {
  if (database.isTransaction) {
    throw new CounterfoilError('store_busy', 'The connection for triggers is in a transaction already.', {
      hint: 'Give nodeSqlite() a connection that nothing else uses.',
    })
  }
  const { timeout } = database.prepare('pragma busy_timeout').get() as { timeout: number }
  if (timeout === 0) database.exec(`pragma busy_timeout = ${busyTimeoutMs}`)
  // Immediate: a transaction that begins by reading can find that it may not write any more.
  database.exec('begin immediate')
  try {
    const result = await work(database)
    database.exec('commit')
    return result
  } catch (error) {
    if (database.isTransaction) database.exec('rollback')
    throw error
  }
}
