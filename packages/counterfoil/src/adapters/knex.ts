import type { Knex } from 'knex'
import type { SqlExecutor, Transactions } from '../store/index.ts'
import { inTransaction, transactionMissing } from './in-transaction.ts'
import { cutAtPlaceholders } from './placeholders.ts'
import { isOvertaken } from './sql-state.ts'

/** `knex`, with the client `pg`. */
export function knex(db: Knex<any, any>): Transactions<Knex.Transaction> {
  return {
    client: 'knex',
    run: (work) => db.transaction(work),
    isOvertaken,
    executor: executorOf,
  }
}

async function executorOf(trx: Knex.Transaction): Promise<SqlExecutor> {
  if (trx.isTransaction !== true || trx.isCompleted()) throw transactionMissing('knex')
  return await inTransaction('knex', {
    dialect: 'postgres',
    async query(sql, parameters) {
      const parts = cutAtPlaceholders(sql)
      // Each `?` of the statement's own would be taken for a parameter.
      const text = parts
        .map((part) => (typeof part === 'number' ? '?' : part.replaceAll('?', '\\?')))
        .join('')
      const bindings = parts.filter((part) => typeof part === 'number').map((index) => parameters[index]!)
      const { rows } = await trx.raw<{ rows: Record<string, unknown>[] }>(text, bindings as Knex.RawBinding[])
      return rows
    },
  })
}
