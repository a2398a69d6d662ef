import makeKnex, { type Knex } from 'knex'
import { onPostgres } from './fixtures/postgres.ts'
import { knex } from './knex.ts'

onPostgres<Knex.Transaction>('knex', async (url) => {
  const db = makeKnex({ client: 'pg', connection: url, pool: { min: 0, max: 5 } })
  return {
    transactions: knex(db),
    outside: db as unknown as Knex.Transaction,
    insert: async (tx, id) => void (await tx('seat').insert({ id })),
    nested: async (tx, work) => await tx.transaction(work),
    close: () => db.destroy(),
  }
})
