import { CamelCasePlugin, Kysely, PostgresDialect, sql, type Transaction } from 'kysely'
import { Pool } from 'pg'
import { onPostgres } from './fixtures/postgres.ts'
import { bySavepoint } from './fixtures/suite.ts'
import { kysely } from './kysely.ts'

interface Database {
  seat: { id: string }
}

for (const plugins of [[], [new CamelCasePlugin()]]) {
  onPostgres<Transaction<Database>>(plugins.length === 0 ? 'kysely' : 'kysely in camelCase', async (url) => {
    const dialect = new PostgresDialect({ pool: new Pool({ connectionString: url, max: 5 }) })
    const db = new Kysely<Database>({ dialect, plugins })
    return {
      transactions: kysely(db),
      outside: db as Transaction<Database>,
      insert: async (tx, id) => void (await tx.insertInto('seat').values({ id }).execute()),
      nested: (tx, work) =>
        bySavepoint(
          (text) => sql.raw(text).execute(tx),
          () => work(tx),
        ),
      close: () => db.destroy(),
    }
  })
}
