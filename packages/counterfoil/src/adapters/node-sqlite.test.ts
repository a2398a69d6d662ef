import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { temporaryDirectory } from '../store/sqlite/fixtures/temporary.ts'
import { sqlite } from '../store/sqlite/index.ts'
import { adapterSuite, bySavepoint } from './fixtures/suite.ts'
import { nodeSqlite } from './node-sqlite.ts'

adapterSuite('node:sqlite', 'sqlite', async () => {
  const directory = temporaryDirectory()
  const path = join(directory.path, 'counterfoil.db')
  const store = sqlite(path)
  await store.open({ migrate: true })
  const connect = () => new DatabaseSync(path, { timeout: 10_000 })
  const [database, reader, outside] = [connect(), connect(), connect()]
  database.exec('create table seat (id text primary key)')
  return {
    store,
    receipts: 'counterfoil_receipt',
    transactions: nodeSqlite(database),
    outside,
    insert: async (tx, id) => void tx.prepare('insert into seat values (?)').run(id),
    read: async (sql) => reader.prepare(sql).all(),
    nested: (tx, work) =>
      bySavepoint(
        (sql) => tx.exec(sql),
        () => work(tx),
      ),
    dispose: async () => {
      for (const one of [database, reader, outside]) one.close()
      directory.remove()
    },
  }
})
