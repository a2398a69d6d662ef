import { type ClientBase, Pool } from 'pg'
import { onPostgres } from './fixtures/postgres.ts'
import { pg } from './pg.ts'

onPostgres<ClientBase>('pg', async (url) => {
  const pool = new Pool({ connectionString: url, max: 5 })
  const outside = await pool.connect()
  return {
    transactions: pg(pool),
    outside,
    insert: async (tx, id) => void (await tx.query('insert into seat values ($1)', [id])),
    nested: async (tx, work) => {
      await tx.query('savepoint nested')
      try {
        await work(tx)
        await tx.query('release savepoint nested')
      } catch (error) {
        await tx.query('rollback to savepoint nested')
        throw error
      }
    },
    async close() {
      outside.release()
      await pool.end()
    },
  }
})
