import postgres, { type TransactionSql } from 'postgres'
import { onPostgres } from './fixtures/postgres.ts'
import { postgresJs } from './postgres-js.ts'

for (const transform of [undefined, postgres.camel]) {
  onPostgres<TransactionSql>(
    transform === undefined ? 'postgres.js' : 'postgres.js in camelCase',
    async (url) => {
      const sql = postgres(url, {
        max: 5,
        onnotice: () => {},
        ...(transform === undefined ? {} : { transform }),
      })
      return {
        transactions: postgresJs(sql),
        outside: sql as unknown as TransactionSql,
        insert: async (tx, id) => void (await tx`insert into seat ${tx({ id })}`),
        nested: async (tx, work) => await tx.savepoint(async (inner) => await work(inner)),
        close: () => sql.end(),
      }
    },
  )
}
