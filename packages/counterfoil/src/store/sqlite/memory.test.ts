import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conformance } from '../conformance.ts'
import { MemoryDatabase } from './index.ts'

conformance('sqlite in memory', async () => {
  const database = new MemoryDatabase()
  const reopen = async () => {
    const { store } = database.handle()
    await store.open({ migrate: true })
    return store
  }
  return { store: await reopen(), reopen, dispose: async () => database.close() }
})

for (const name of ['NODE_ENV', 'COUNTERFOIL_ENV']) {
  test(`a store in memory is refused where ${name} says production`, () => {
    const before = process.env[name]
    process.env[name] = 'production'
    try {
      assert.throws(() => new MemoryDatabase(), { code: 'store_not_durable' })
    } finally {
      if (before === undefined) delete process.env[name]
      else process.env[name] = before
    }
  })
}

test('a process that dies in the middle of a trigger’s transaction leaves nothing of it and holds up nobody', async () => {
  const database = new MemoryDatabase()
  const [dying, other] = [database.handle(), database.handle()]
  await dying.store.open({ migrate: true })
  await other.store.open({ migrate: true })
  const session = await dying.store.beginPlan({ timeoutMs: 60_000 })
  await session.run('create table seat (name text)')
  const waiting = other.store.status()
  dying.abandon()
  assert.equal((await waiting).receipts.total, 0)
  assert.equal(database.db.prepare("select 1 from sqlite_schema where name = 'seat'").get(), undefined)
  database.close()
})

test('clearing leaves every table as the migrations made it, the audit log and its trigger too', async () => {
  const database = new MemoryDatabase()
  const { store } = database.handle()
  await store.open({ migrate: true })
  const entry = { at: 1, operator: 'ada', role: 'operator', act: 'a', subject: 's', decision: 'd' } as const
  await store.audit({ ...entry, reason: 'r', detail: {}, result: {} })
  database.clear()
  assert.deepEqual(await store.listAudit({ limit: 10 }), [])
  await store.audit({ ...entry, reason: 'r', detail: {}, result: {} })
  assert.throws(() => database.db.exec('delete from counterfoil_audit'), /only appended to/)
  database.close()
})
