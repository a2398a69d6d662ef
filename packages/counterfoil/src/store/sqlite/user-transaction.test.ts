import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { nodeSqlite } from '../../adapters/node-sqlite.ts'
import { accepted, delivery, newEffect, planFor, rejects, unfit } from '../conformance/given.ts'
import type { Store } from '../store.ts'
import { temporaryDirectory } from './fixtures/temporary.ts'
import { sqlite } from './index.ts'

/** A store, and a connection of the program's own on its file. */
async function on(work: (store: Store, database: DatabaseSync) => Promise<void>): Promise<void> {
  const directory = temporaryDirectory()
  const store = sqlite(join(directory.path, 'counterfoil.db'))
  await store.open({ migrate: true })
  const database = new DatabaseSync(store.location, { timeout: 10_000 })
  try {
    await work(store, database)
  } finally {
    database.close()
    await store.close()
    directory.remove()
  }
}

const executorOf = (database: DatabaseSync) => nodeSqlite(database).executor(database)

test('totals follow the transaction: what is rolled back was never counted', () =>
  on(async (store, database) => {
    const before = await store.status()
    database.exec('begin immediate')
    await store.acceptIn(await executorOf(database), delivery())
    await store.acceptIn(await executorOf(database), unfit('schema-failure'))
    database.exec('rollback')
    assert.deepEqual(await store.status(), before)
    database.exec('begin immediate')
    await store.acceptIn(await executorOf(database), delivery())
    database.exec('commit')
    assert.equal((await store.status()).receipts.total, before.receipts.total + 1)
  }))

test('when it fails, the transaction holds nothing of it, and the program may go on and commit', () =>
  on(async (store, database) => {
    database.exec(
      "create trigger full before insert on counterfoil_outbox begin select raise(abort, 'planted'); end",
    )
    const entry = delivery()
    database.exec('begin immediate; create table t (a)')
    await assert.rejects(store.acceptIn(await executorOf(database), entry), /planted/)
    database.exec('commit; drop trigger full')
    assert.equal(await store.showReceipt(entry.receipt.id), null)
    assert.equal((await store.status()).receipts.total, 0)
    assert.equal(database.prepare("select count(*) as n from sqlite_schema where name = 't'").get()?.n, 1)
  }))

test('a transaction of another file, or of memory, is refused', () =>
  on(async (store) => {
    const directory = temporaryDirectory()
    for (const path of [join(directory.path, 'other.db'), ':memory:']) {
      const other = new DatabaseSync(path)
      other.exec('begin')
      await rejects(store.acceptIn(await executorOf(other), delivery()), 'transaction_foreign')
      other.close()
    }
    directory.remove()
  }))

test('a transaction of another database is refused, and so is one that is over', () =>
  on(async (store, database) => {
    const postgres = { dialect: 'postgres', query: async () => [] } as const
    await rejects(store.acceptIn(postgres, delivery()), 'transaction_foreign')
    await rejects(store.planIn(postgres, planFor(await accepted(store))), 'transaction_foreign')
    database.exec('begin immediate')
    const executor = await executorOf(database)
    database.exec('rollback')
    await rejects(store.acceptIn(executor, delivery()), 'transaction_missing')
  }))

test('a plan that is none leaves the transaction as it was, with what else is in it', () =>
  on(async (store, database) => {
    const [one, two] = [await accepted(store), await accepted(store)]
    await store.plan(planFor(one, newEffect({ key: 'k', payload: 'a' })))
    database.exec('begin immediate; create table t (a)')
    const executor = await executorOf(database)
    const conflict = await store.planIn(executor, planFor(two, newEffect({ key: 'k', payload: 'b' })))
    const consumed = await store.planIn(executor, planFor(one))
    database.exec('commit')
    assert.deepEqual([conflict.kind, consumed.kind], ['conflict', 'consumed'])
    assert.equal((await store.showReceipt(two.receipt))?.receipt.state, 'accepted')
    assert.deepEqual(await store.listQuarantine({ limit: 10 }), [])
  }))

test('another connection that writes makes it busy, told as such', () =>
  on(async (store, database) => {
    const other = new DatabaseSync(store.location)
    database.exec('begin immediate')
    other.exec('begin; select 1 from counterfoil_receipt')
    await rejects(store.acceptIn(await executorOf(other), delivery()), 'store_busy')
    database.exec('rollback')
    other.close()
  }))

test('a store that is closed takes nothing in', () =>
  on(async (store, database) => {
    const record = await accepted(store)
    await store.close()
    database.exec('begin')
    const executor = await executorOf(database)
    await rejects(store.acceptIn(executor, delivery()), 'store_closed')
    await rejects(store.planIn(executor, planFor(record)), 'store_closed')
  }))
