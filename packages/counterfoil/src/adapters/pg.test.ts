import { type ClientBase, Pool } from 'pg'
import { onPostgres } from './fixtures/postgres.ts'
import { bySavepoint } from './fixtures/suite.ts'
import { pg } from './pg.ts'

onPostgres<ClientBase>('pg', async (url) => {
  const pool = new Pool({ connectionString: url, max: 5 })
  const outside = await pool.connect()
  return {
    transactions: pg(pool),
    outside,
    insert: async (tx, id) => void (await tx.query('insert into seat values ($1)', [id])),
    nested: (tx, work) =>
      bySavepoint(
        (sql) => tx.query(sql),
        () => work(tx),
      ),
    async close() {
      outside.release()
      await pool.end()
    },
  }
})
