import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accepted, on, planFor, rejects } from '../conformance/given.ts'
import type { SqlValue, Store } from '../store.ts'
import { temporaryStore } from './fixtures/temporary.ts'

const limits = { timeoutMs: 5_000 }

async function commit(store: Store, ...statements: string[]): Promise<void> {
  const record = await accepted(store)
  const session = await store.beginPlan(limits)
  for (const sql of statements) await session.run(sql)
  await session.commit(planFor(record))
}

test(
  'parameters and values cross whole: text, bytes, null, and integers beyond 2^53',
  on(temporaryStore, async (store) => {
    await commit(store, 'create table t (a, b, c, d)')
    const session = await store.beginPlan(limits)
    const values: SqlValue[] = ['größe', 2n ** 60n + 1n, new Uint8Array([0, 255]), null]
    await session.run('insert into t values (?, ?, ?, ?)', ...values)
    assert.deepEqual(await session.get('select * from t'), {
      a: 'größe',
      b: 2n ** 60n + 1n,
      c: new Uint8Array([0, 255]),
      d: null,
    })
    assert.deepEqual(await session.all('select 1 as one, 9007199254740991 as most, 1.5 as half'), [
      { one: 1, most: 9007199254740991, half: 1.5 },
    ])
    await session.rollback()
  }),
)

test(
  'transaction control, attach, pragma and writes to counterfoil_* are refused, in whatever dress',
  on(temporaryStore, async (store) => {
    await commit(store, 'create table t (a)')
    const session = await store.beginPlan(limits)
    const refused = [
      'begin',
      'end',
      'savepoint x',
      'release trigger_statements',
      'rollback to trigger_statements',
      "attach 'other.db' as other",
      'pragma synchronous = off',
      'insert into counterfoil_outbox (receipt, at) values (1, 1)',
      "with x as (select 1) update counterfoil_receipt set state = 'planned'",
      'create table counterfoil_mine (a)',
      'create temp table counterfoil_receipt (a)',
      'create trigger mine after insert on counterfoil_receipt begin select 1; end',
      'create index mine on COUNTERFOIL_RECEIPT (id)',
      'alter table counterfoil_receipt add column mine',
      'drop index counterfoil_outbox_at',
    ]
    for (const sql of refused) await rejects(session.run(sql), 'statement_refused')
    // Through a trigger of the program's own.
    await session.run('create trigger sly after insert on t begin delete from counterfoil_outbox; end')
    await rejects(session.run('insert into t values (1)'), 'statement_refused')
    assert.deepEqual(await session.get('select count(*) as receipts from counterfoil_receipt'), {
      receipts: 1,
    })
    await session.rollback()
  }),
)

test(
  'more than one statement at a time is refused, not cut off',
  on(temporaryStore, async (store) => {
    await commit(store, 'create table t (a)')
    const session = await store.beginPlan(limits)
    await rejects(session.run('insert into t values (1); insert into t values (2)'), 'statement_refused')
    assert.deepEqual(await session.run('insert into t values (3); -- and no more'), { changes: 1 })
    assert.deepEqual(await session.all('select a from t'), [{ a: 3 }])
    await session.rollback()
  }),
)

test(
  'the program’s foreign keys are kept',
  on(temporaryStore, async (store) => {
    await commit(
      store,
      'create table p (id integer primary key)',
      'create table c (p integer references p (id))',
    )
    const session = await store.beginPlan(limits)
    await rejects(session.run('insert into c values (7)'), 'statement_failed')
    await session.rollback()
  }),
)

test(
  'a statement that ends the transaction itself closes the session, and nothing of it stays',
  on(temporaryStore, async (store) => {
    await commit(store, 'create table t (a integer primary key)', 'insert into t values (1)')
    const record = await accepted(store)
    const session = await store.beginPlan(limits)
    await session.run('insert into t values (2)')
    await rejects(session.run('insert or rollback into t values (1)'), 'statement_failed')
    await rejects(session.run('insert into t values (3)'), 'transaction_closed')
    await rejects(session.commit(planFor(record)), 'transaction_closed')
    const after = await store.beginPlan(limits)
    assert.deepEqual(await after.all('select a from t'), [{ a: 1 }])
    await after.rollback()
    assert.equal((await store.showReceipt(record.receipt))?.receipt.state, 'accepted')
  }),
)

test(
  'a session that runs out of time lets go of the file at once',
  on(temporaryStore, async (store, { reopen }) => {
    const other = await reopen()
    const session = await store.beginPlan({ timeoutMs: 100 })
    const began = performance.now()
    await accepted(other)
    assert.ok(performance.now() - began < 3_000)
    await rejects(session.run('select 1'), 'trigger_timeout')
  }),
)
