import type { SqlExecutor, Transactions } from '../store/index.ts'
import { inTransaction } from './in-transaction.ts'
import { isOvertaken } from './sql-state.ts'

interface PrismaHandle {
  $queryRawUnsafe<Rows>(sql: string, ...values: any[]): PromiseLike<Rows>
}
interface PrismaDatabase extends PrismaHandle {
  $transaction<Result>(
    work: (tx: any) => Promise<Result>,
    options?: { maxWait?: number; timeout?: number },
  ): Promise<Result>
}

/** The handle of an interactive transaction of this client. */
export type PrismaTransaction<Client> = Client extends {
  $transaction(work: (tx: infer Tx) => Promise<unknown>, options?: any): Promise<unknown>
}
  ? Tx
  : never

/** `@prisma/client` on PostgreSQL: interactive transactions. Prisma's own time limit is that of the trigger. */
export function prisma<Client extends PrismaDatabase>(
  client: Client,
): Transactions<PrismaTransaction<Client>> {
  return {
    client: 'prisma',
    run: (work, { timeoutMs }) => client.$transaction(work, { maxWait: timeoutMs, timeout: timeoutMs }),
    isOvertaken,
    executor: executorOf as (tx: PrismaTransaction<Client>) => Promise<SqlExecutor>,
  }
}

async function executorOf(tx: PrismaHandle): Promise<SqlExecutor> {
  return await inTransaction('prisma', {
    dialect: 'postgres',
    query: async (sql, parameters) => await tx.$queryRawUnsafe(sql, ...parameters),
  })
}
