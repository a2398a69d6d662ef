import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '../store.ts'
import { accepted, claim, type MakeStore, newEffect, on, planFor, rejects } from './given.ts'

const limits = { timeoutMs: 5_000 }
const createTable = 'create table customer (id integer primary key, name text not null)'

async function customers(store: Store): Promise<number> {
  const session = await store.beginPlan(limits)
  const rows = await session.all('select id, name from customer')
  await session.rollback()
  return rows.length
}

/** Prepares the table before any record is in work, since one session at a time holds the transaction. */
async function prepared(store: Store) {
  const setup = await accepted(store)
  const first = await store.beginPlan(limits)
  await first.run(createTable)
  await first.run("insert into customer (id, name) values (1, 'first')")
  await first.commit(planFor(setup))
  return await accepted(store)
}

/** The trigger's own statements in the transaction of the plan. */
export function sessions(make: MakeStore): void {
  it(
    'the program’s rows and the effects commit together',
    on(make, async (store, { reopen }) => {
      const record = await prepared(store)
      const session = await store.beginPlan(limits)
      assert.deepEqual(await session.run("update customer set name = 'second' where id = 1"), { changes: 1 })
      assert.deepEqual(await session.run("insert into customer (id, name) values (2, 'other')"), {
        changes: 1,
      })
      assert.deepEqual(await session.get('select name from customer where id = 1'), { name: 'second' })
      assert.equal(await session.get('select name from customer where id = 9'), undefined)
      assert.equal((await session.commit(planFor(record, newEffect({ key: 'k' })))).kind, 'planned')
      const other = await reopen()
      assert.equal(await customers(other), 2)
      assert.equal((await other.showEffects('k')).length, 1)
    }),
  )

  it(
    'a session that is rolled back leaves neither',
    on(make, async (store) => {
      const record = await prepared(store)
      const session = await store.beginPlan(limits)
      await session.run("insert into customer (id, name) values (2, 'other')")
      await session.rollback()
      assert.equal(await customers(store), 1)
      assert.equal((await store.showReceipt(record.receipt))?.receipt.state, 'accepted')
      await session.rollback()
    }),
  )

  it(
    'an effect conflict takes the program’s rows back and commits the quarantine alone',
    on(make, async (store) => {
      const record = await prepared(store)
      await store.plan(planFor(await accepted(store), newEffect({ key: 'k', payload: 'one' })))
      const session = await store.beginPlan(limits)
      await session.run("insert into customer (id, name) values (2, 'other')")
      const planned = await session.commit(planFor(record, newEffect({ key: 'k', payload: 'two' })))
      assert.equal(planned.kind, 'conflict')
      assert.equal(await customers(store), 1)
      assert.equal((await store.showReceipt(record.receipt))?.receipt.state, 'quarantined')
    }),
  )

  it(
    'a record that was consumed meanwhile takes the program’s rows back',
    on(make, async (store) => {
      const record = await prepared(store)
      await store.plan(planFor(record))
      const session = await store.beginPlan(limits)
      await session.run("insert into customer (id, name) values (2, 'other')")
      assert.deepEqual(await session.commit(planFor(record, newEffect())), { kind: 'consumed' })
      assert.equal(await customers(store), 1)
    }),
  )

  it(
    'a session is over after commit, rollback or its time limit, and says so',
    on(make, async (store) => {
      const record = await prepared(store)
      const committed = await store.beginPlan(limits)
      await committed.commit(planFor(record))
      await rejects(committed.run("insert into customer (id, name) values (3, 'late')"), 'transaction_closed')
      await rejects(committed.commit(planFor(record)), 'transaction_closed')
      const rolledBack = await store.beginPlan(limits)
      await rolledBack.rollback()
      await rejects(rolledBack.all('select id from customer'), 'transaction_closed')
      const slow = await store.beginPlan({ timeoutMs: 50 })
      await slow.run("insert into customer (id, name) values (4, 'slow')")
      await sleep(200)
      await rejects(slow.commit(planFor(record)), 'transaction_closed', 'trigger_timeout')
      assert.equal(await customers(store), 1)
    }),
  )

  it(
    'a statement that fails is the trigger’s to handle, and the session goes on or says that it is over',
    on(make, async (store) => {
      const record = await prepared(store)
      const session = await store.beginPlan(limits)
      await session.run("insert into customer (id, name) values (2, 'other')")
      await rejects(session.run("insert into customer (id, name) values (1, 'twice')"), 'statement_failed')
      const committed = await session.commit(planFor(record)).then(
        ({ kind }) => kind === 'planned',
        () => false,
      )
      assert.equal(await customers(store), committed ? 2 : 1)
      assert.equal(
        (await store.showReceipt(record.receipt))?.receipt.state,
        committed ? 'planned' : 'accepted',
      )
    }),
  )

  it(
    'a trigger neither ends the transaction nor writes the store’s own tables',
    on(make, async (store) => {
      const record = await prepared(store)
      for (const sql of [
        'commit',
        'rollback',
        "update counterfoil_receipt set state = 'planned'",
        'delete from counterfoil_outbox',
        'drop table counterfoil_effect',
      ]) {
        const session = await store.beginPlan(limits)
        await rejects(session.run(sql), 'statement_refused')
        await session.rollback()
      }
      assert.equal((await store.showReceipt(record.receipt))?.receipt.state, 'accepted')
      assert.equal((await claim(store)).length, 1)
    }),
  )

  it(
    'what else comes in is done while, or after, a session is open',
    on(make, async (store) => {
      const record = await prepared(store)
      const session = await store.beginPlan(limits)
      const others = Promise.all(Array.from({ length: 20 }, () => accepted(store)))
      const next = store.beginPlan(limits)
      await session.run("insert into customer (id, name) values (2, 'other')")
      await session.commit(planFor(record))
      // Which of them comes next is the store's to choose.
      await (await next).rollback()
      assert.equal((await others).length, 20)
    }),
  )

  it(
    'closing waits for the session that is open',
    on(make, async (store, { reopen }) => {
      const record = await prepared(store)
      const other = await reopen()
      const session = await other.beginPlan(limits)
      await session.run("insert into customer (id, name) values (2, 'other')")
      const closing = other.close()
      await rejects(other.beginPlan(limits), 'store_closed')
      assert.equal((await session.commit(planFor(record))).kind, 'planned')
      await closing
      assert.equal(await customers(store), 2)
    }),
  )
}
