import { DataSource, type EntityManager, EntitySchema } from 'typeorm'
import { onPostgres } from './fixtures/postgres.ts'
import { typeorm } from './typeorm.ts'

const Seat = new EntitySchema<{ id: string }>({
  name: 'seat',
  columns: { id: { type: 'text', primary: true } },
})

onPostgres<EntityManager>('typeorm', async (url) => {
  const source = new DataSource({ type: 'postgres', url, entities: [Seat], extra: { max: 5 } })
  await source.initialize()
  return {
    transactions: typeorm(source),
    outside: source.manager,
    insert: async (tx, id) => void (await tx.insert(Seat, { id })),
    nested: async (tx, work) => await tx.transaction(work),
    close: () => source.destroy(),
  }
})
