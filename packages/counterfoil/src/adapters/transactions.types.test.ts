import { test } from 'node:test'
import type { MikroORM } from '@mikro-orm/postgresql'
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import type { Knex } from 'knex'
import type { Kysely, Transaction } from 'kysely'
import type { ClientBase, Pool } from 'pg'
import type { Sql, TransactionSql } from 'postgres'
import type { DataSource, EntityManager } from 'typeorm'
import { z } from 'zod'
import { type Counterfoil, counterfoil, internal, type SqlExecutor, type Store, trigger } from '../index.ts'
import { drizzle } from './drizzle.ts'
import type { PrismaClient } from './fixtures/prisma/generated/client.ts'
import { knex } from './knex.ts'
import { kysely } from './kysely.ts'
import { mikroOrm } from './mikro-orm.ts'
import { pg } from './pg.ts'
import { postgresJs } from './postgres-js.ts'
import { prisma } from './prisma.ts'
import { typeorm } from './typeorm.ts'

// Nothing runs here: the compiler is the test. Each `@ts-expect-error` fails to compile when the mistake it
// stands over is accepted.

interface Database {
  seat: { id: string }
}

const orders = internal('orders')
const on = orders.event('order.placed', {
  schema: z.object({ seat: z.string(), plan: z.string().default('pro'), at: z.coerce.date().optional() }),
})

/** Only of the very same type, and not of `any`, which would satisfy all. */
type Same<One, Other> =
  (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? One : never

function clientsOwnHandles(clients: {
  pool: Pool
  sql: Sql
  kysely: Kysely<Database>
  knex: Knex
  node: NodePgDatabase<{ seat: never }>
  postgres: PostgresJsDatabase
  source: DataSource
  prisma: PrismaClient
  orm: MikroORM
}): void {
  trigger('pg', {
    on,
    in: pg(clients.pool),
    plan: (_, { tx }) => void (tx satisfies Same<typeof tx, ClientBase>),
  })
  trigger('postgres.js', {
    on,
    in: postgresJs(clients.sql),
    plan: (_, { tx }) => void (tx satisfies Same<typeof tx, TransactionSql>),
  })
  trigger('kysely', {
    on,
    in: kysely(clients.kysely),
    plan: async (event, { tx }) => {
      await tx.insertInto('seat').values({ id: event.data.seat }).execute()
      // @ts-expect-error the table is not in the program's own database type
      tx.insertInto('seats')
      // @ts-expect-error the client's handle, and not the store's
      tx.run
    },
  })
  trigger('knex', {
    on,
    in: knex(clients.knex),
    plan: (_, { tx }) => void (tx satisfies Same<typeof tx, Knex.Transaction>),
  })
  trigger('drizzle on pg', {
    on,
    in: drizzle(clients.node),
    plan: (_, { tx }) => {
      tx.rollback
      // @ts-expect-error no such table in the program's own schema
      tx.query.nothing
    },
  })
  trigger('drizzle on postgres.js', { on, in: drizzle(clients.postgres), plan: (_, { tx }) => tx.rollback() })
  trigger('typeorm', {
    on,
    in: typeorm(clients.source),
    plan: (_, { tx }) => void (tx satisfies Same<typeof tx, EntityManager>),
  })
  trigger('prisma', {
    on,
    in: prisma(clients.prisma),
    plan: async (event, { tx }) => {
      await tx.seat.create({ data: { id: event.data.seat } })
      // @ts-expect-error a transaction of Prisma does not disconnect
      tx.$disconnect
    },
  })
  trigger('mikro-orm', {
    on,
    in: mikroOrm(clients.orm.em),
    plan: (_, { tx }) => void (tx satisfies Same<typeof tx, MikroORM['em']>),
  })
}

function configurations(store: Store, db: Kysely<Database>, pool: Pool): void {
  const transactions = kysely(db)
  const about = { on, plan: () => {} }
  const app = counterfoil({
    store,
    transactions,
    recipients: [],
    triggers: [trigger('a', { ...about, in: transactions })],
  })
  app satisfies Same<typeof app, Counterfoil<Transaction<Database>>>
  // @ts-expect-error a trigger that plans in transactions of another client
  counterfoil({ store, transactions, recipients: [], triggers: [trigger('b', { ...about, in: pg(pool) })] })
  // @ts-expect-error a trigger that expects the store's own transaction
  counterfoil({ store, transactions, recipients: [], triggers: [trigger('c', about)] })
  // @ts-expect-error a trigger of a client that the configuration does not have
  counterfoil({ store, recipients: [], triggers: [trigger('d', { ...about, in: transactions })] })
  counterfoil({ store, recipients: [], triggers: [trigger('e', about)] })
}

async function publishing(
  app: Counterfoil<Transaction<Database>>,
  plain: Counterfoil,
  handles: { db: Kysely<Database>; tx: Transaction<Database>; executor: SqlExecutor },
): Promise<void> {
  const { db, tx, executor } = handles
  await app.publish(tx, { type: on, data: { seat: '1' } })
  await app.publish(tx, { type: on, data: { seat: '1', plan: 'free', at: '2026-01-01' }, id: 'order/1' })
  await plain.publish(executor, { type: on, data: { seat: '1' } })
  // @ts-expect-error a database is no transaction
  await app.publish(db, { type: on, data: { seat: '1' } })
  // @ts-expect-error without configured transactions, an adapter's executor
  await plain.publish(tx, { type: on, data: { seat: '1' } })
  // @ts-expect-error a member is missing
  await app.publish(tx, { type: on, data: { plan: 'pro' } })
  // @ts-expect-error a member of another type
  await app.publish(tx, { type: on, data: { seat: 1 } })
  // @ts-expect-error a member that the schema does not know
  await app.publish(tx, { type: on, data: { seat: '1', sea: 1 } })
}

test('each client’s own handle, and each event’s own input, are what the compiler asks for', () => {
  void [clientsOwnHandles, configurations, publishing]
})
