import { drizzle as drizzlePg, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import { pgTable, text } from 'drizzle-orm/pg-core'
import { drizzle as drizzlePostgres, type PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import { Pool } from 'pg'
import postgres from 'postgres'
import { type DrizzleTransaction, drizzle } from './drizzle.ts'
import { onPostgres } from './fixtures/postgres.ts'

const seat = pgTable('seat', { id: text('id').primaryKey() })

onPostgres<DrizzleTransaction<NodePgDatabase<{ seat: typeof seat }>>>('drizzle on pg', async (url) => {
  const pool = new Pool({ connectionString: url, max: 5 })
  const db = drizzlePg(pool, { schema: { seat }, casing: 'camelCase' })
  return {
    transactions: drizzle(db),
    outside: db as unknown as DrizzleTransaction<typeof db>,
    insert: async (tx, id) => void (await tx.insert(seat).values({ id })),
    nested: async (tx, work) => await tx.transaction(work),
    close: () => pool.end(),
  }
})

onPostgres<DrizzleTransaction<PostgresJsDatabase>>('drizzle on postgres.js', async (url) => {
  const sql = postgres(url, { max: 5, onnotice: () => {} })
  const db = drizzlePostgres(sql)
  return {
    transactions: drizzle(db),
    outside: db as unknown as DrizzleTransaction<typeof db>,
    insert: async (tx, id) => void (await tx.insert(seat).values({ id })),
    nested: async (tx, work) => await tx.transaction(work),
    close: () => sql.end(),
  }
})
