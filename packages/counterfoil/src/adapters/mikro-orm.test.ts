import { defineEntity, type EntityManager, MikroORM, p } from '@mikro-orm/postgresql'
import { onPostgres } from './fixtures/postgres.ts'
import { mikroOrm } from './mikro-orm.ts'

const Seat = defineEntity({ name: 'Seat', tableName: 'seat', properties: { id: p.text().primary() } })

onPostgres<EntityManager>('mikro-orm', async (url) => {
  const orm = await MikroORM.init({ clientUrl: url, entities: [Seat], pool: { max: 5 } })
  return {
    transactions: mikroOrm(orm.em),
    outside: orm.em,
    insert: async (tx, id) => void (await tx.insert(Seat, { id })),
    nested: async (tx, work) => await tx.transactional(work as never),
    close: () => orm.close(),
  }
})
