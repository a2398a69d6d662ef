import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { skipLoudly } from '../../testing/skip.ts'
import { accepted, newEffect, planFor, rejects } from '../conformance/given.ts'
import type { SqlValue, Store } from '../store.ts'
import { missing } from './fixtures/binaries.ts'
import { Server } from './fixtures/server.ts'
import { until } from './fixtures/standby.ts'
import { postgres } from './index.ts'

const why = missing(18)
const limits = { timeoutMs: 5_000 }

describe('a trigger’s own statements on PostgreSQL', () => {
  if (why !== undefined) {
    test('PostgreSQL 18', (t) => skipLoudly(t, why))
    return
  }
  let server: Server
  let store: Store
  before(async () => {
    server = await Server.start(18)
    store = postgres(server.url(), { clock: 'caller', maxSessions: 2, lockTimeoutMs: 200 })
    await store.open({ migrate: true })
    await server.query('create table t (a text, b bigint, c bytea, d text)')
    await server.query('create table once (id int primary key deferrable initially deferred)')
  })
  after(async () => {
    await store.close()
    await server.dispose()
  })

  test('parameters and values cross whole: text, bytes, null, and integers beyond 2^53', async () => {
    const session = await store.beginPlan(limits)
    const values: SqlValue[] = ['größe', 2n ** 60n + 1n, new Uint8Array([0, 255]), null]
    await session.run('insert into t values ($1, $2, $3, $4)', ...values)
    assert.deepEqual(await session.get('select * from t'), {
      a: 'größe',
      b: 2n ** 60n + 1n,
      c: new Uint8Array([0, 255]),
      d: null,
    })
    const typed =
      'select true as yes, false as no, 1.5::numeric as exact, 1.5::float8 as half, 7::bigint as few'
    assert.deepEqual(await session.get(typed), { yes: 1, no: 0, exact: '1.5', half: 1.5, few: 7 })
    await session.rollback()
  })

  test('more than one statement at a time is refused, not cut off', async () => {
    const session = await store.beginPlan(limits)
    await rejects(
      session.run("insert into t (a) values ('x'); insert into t (a) values ('y')"),
      'statement_failed',
    )
    await session.rollback()
    assert.equal((await server.query('select 1 from t')).length, 0)
  })

  for (const sql of [
    'select * from no_such_table',
    'select 1/0',
    'selec',
    "insert into t (b) values ('no number')",
  ]) {
    test(`'${sql}' is the trigger’s own fault, and ends its transaction`, async () => {
      const session = await store.beginPlan(limits)
      await rejects(session.run(sql), 'statement_failed')
      await rejects(session.run('select 1'), 'transaction_closed')
    })
  }

  test('a constraint that is checked at COMMIT takes all back, and the record waits on', async () => {
    const record = await accepted(store)
    const session = await store.beginPlan(limits)
    for (let n = 0; n < 2; n++) await session.run('insert into once values (1)')
    await rejects(session.commit(planFor(record, newEffect({ key: 'deferred' }))), 'statement_failed')
    assert.deepEqual(await store.showEffects('deferred'), [])
    assert.equal((await store.showReceipt(record.receipt))?.receipt.state, 'accepted')
  })

  test('a statement that outlasts the trigger’s time is ended by the server', async () => {
    const session = await store.beginPlan({ timeoutMs: 300 })
    await rejects(session.run('select pg_sleep(30)'), 'trigger_timeout')
    await until('its connection is free', async () => {
      const rows = await server.query(
        "select 1 from pg_stat_activity where query like '%pg_sleep(30)%' and state = 'active' and pid <> pg_backend_pid()",
      )
      return rows.length === 0
    })
  })

  test('a session that is forgotten lets go of its locks when its time is over', async () => {
    await server.query("insert into t (a) values ('held')")
    const forgotten = await store.beginPlan({ timeoutMs: 500 })
    await forgotten.run("update t set d = 'x' where a = 'held'")
    const other = await store.beginPlan(limits)
    await rejects(other.run("update t set d = 'y' where a = 'held'"), 'store_busy')
    await until('the row is free', async () => {
      const next = await store.beginPlan(limits)
      const free = await next.run("update t set d = 'y' where a = 'held'").then(
        () => true,
        () => false,
      )
      await next.rollback()
      return free
    })
    await rejects(forgotten.run('select 1'), 'trigger_timeout')
  })

  test('as many triggers as there are sessions plan at once; the next waits for one of them', async () => {
    const sessions = [await store.beginPlan(limits), await store.beginPlan(limits)]
    let third = false
    const waiting = store.beginPlan(limits).then((session) => {
      third = true
      return session
    })
    // Other work goes on meanwhile: it has connections of its own.
    await accepted(store)
    assert.equal(third, false)
    await sessions[0]!.rollback()
    await (await waiting).rollback()
    await sessions[1]!.rollback()
  })

  test('a plan that lost its effect to another transaction says so, and can be made again', async () => {
    const [mine, theirs] = [await accepted(store), await accepted(store)]
    const key = 'contended'
    const [one, two] = [await store.beginPlan(limits), await store.beginPlan(limits)]
    await one.run("insert into t (a) values ('one')")
    await two.run("insert into t (a) values ('two')")
    const results = await Promise.allSettled([
      one.commit(planFor(mine, newEffect({ key }))),
      two.commit(planFor(theirs, newEffect({ key }))),
    ])
    for (const result of results)
      if (result.status === 'rejected') assert.equal(result.reason.code, 'store_busy')
    for (const record of [mine, theirs]) await store.plan(planFor(record, newEffect({ key })))
    const [story] = await store.showEffects(key)
    assert.equal(story?.causes.length, 2)
  })
})
