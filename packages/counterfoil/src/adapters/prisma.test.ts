import { PrismaPg } from '@prisma/adapter-pg'
import { onPostgres } from './fixtures/postgres.ts'
import { PrismaClient } from './fixtures/prisma/generated/client.ts'
import { bySavepoint } from './fixtures/suite.ts'
import { type PrismaTransaction, prisma } from './prisma.ts'

onPostgres<PrismaTransaction<PrismaClient>>('prisma', async (url) => {
  const client = new PrismaClient({ adapter: new PrismaPg({ connectionString: url, max: 5 }) })
  return {
    transactions: prisma(client),
    outside: client,
    insert: async (tx, id) => void (await tx.seat.create({ data: { id } })),
    nested: (tx, work) =>
      bySavepoint(
        (sql) => tx.$executeRawUnsafe(sql),
        () => work(tx),
      ),
    close: () => client.$disconnect(),
  }
})
