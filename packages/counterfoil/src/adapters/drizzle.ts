import { type SQLWrapper, sql as template } from 'drizzle-orm'
import type { SqlExecutor, SqlValue, Transactions } from '../store/index.ts'
import { inTransaction } from './in-transaction.ts'
import { cutAtPlaceholders } from './placeholders.ts'
import { isOvertaken } from './sql-state.ts'

/** What is asked of a Drizzle database or transaction, whatever its schema and driver. */
interface DrizzleHandle {
  execute(query: SQLWrapper): PromiseLike<unknown>
}
interface DrizzleDatabase extends DrizzleHandle {
  transaction(work: (tx: any) => Promise<any>): Promise<any>
}

/** The handle that this database gives to a transaction. */
export type DrizzleTransaction<Database extends DrizzleDatabase> = Parameters<
  Parameters<Database['transaction']>[0]
>[0]

/** `drizzle-orm` on PostgreSQL, with the driver `pg` or `postgres`. */
export function drizzle<Database extends DrizzleDatabase>(
  db: Database,
): Transactions<DrizzleTransaction<Database>> {
  return {
    client: 'drizzle',
    run: (work) => db.transaction(work),
    isOvertaken,
    executor: executorOf,
  }
}

async function executorOf(tx: DrizzleHandle): Promise<SqlExecutor> {
  return await inTransaction('drizzle', {
    dialect: 'postgres',
    async query(sql, parameters) {
      const result = await tx.execute(toTemplate(sql, parameters))
      // An array from `postgres`, a result with rows from `pg`.
      return [...((result as { rows?: Record<string, unknown>[] }).rows ?? (result as []))]
    },
  })
}

function toTemplate(sql: string, parameters: readonly SqlValue[]): SQLWrapper {
  const parts = cutAtPlaceholders(sql)
  return template.join(
    parts.map((part) => (typeof part === 'number' ? template.param(parameters[part]) : template.raw(part))),
  )
}
