import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import pg from 'pg'
import { accepted, claim, delivery, newEffect, planFor, rejects, start } from '../conformance/given.ts'
import type { SqlExecutor } from '../sql-executor.ts'
import type { Store } from '../store.ts'
import { describeOn } from './fixtures/describe-on.ts'
import { postgres } from './index.ts'

describeOn(17, 'in a transaction that the program owns', (server) => {
  let store: Store
  /** The program's own driver, as it would use it without us. */
  let client: pg.Client
  let executor: SqlExecutor
  let made = 0
  const next = () => `own/${++made}`

  before(async () => {
    store = postgres(server.url(), { schema: 'own', clock: 'caller' })
    await store.open({ migrate: true })
    await server.query('create table customer (name text)')
    client = new pg.Client({ connectionString: server.url() })
    await client.connect()
    executor = {
      dialect: 'postgres',
      query: async (sql, parameters) => (await client.query(sql, parameters as unknown[])).rows,
    }
  })
  beforeEach(() => client.query('rollback'))
  after(async () => {
    await client.end()
    await store.close()
  })

  const customers = async (name: string) =>
    (await server.query('select 1 from customer where name = $1', [name])).length

  for (const end of ['commit', 'rollback'] as const) {
    test(`an event is accepted with the program’s rows, and ${end} decides on both`, async () => {
      const event = next()
      const entry = delivery({ event })
      await client.query('begin')
      await client.query('insert into customer values ($1)', [event])
      const answer = await store.acceptIn(executor, entry)
      assert.equal(answer.outcome, 'accepted')
      assert.equal(await store.showReceipt(entry.receipt.id), null, 'nobody sees it before the commit')
      await client.query(end)
      const there = end === 'commit'
      assert.equal((await store.showReceipt(entry.receipt.id)) !== null, there)
      assert.equal(await customers(event), there ? 1 : 0)
      const waiting = await claim(store, start)
      assert.equal(
        waiting.some((one) => one.kind === 'plan' && one.receipt.id === entry.receipt.id),
        there,
      )
    })

    test(`a plan is written with the program’s rows, and ${end} decides on both`, async () => {
      const key = next()
      const plan = planFor(await accepted(store), newEffect({ key }))
      await client.query('begin')
      await client.query('insert into customer values ($1)', [key])
      assert.equal((await store.planIn(executor, plan)).kind, 'planned')
      await client.query(end)
      const there = end === 'commit'
      assert.equal((await store.showEffects(key)).length, there ? 1 : 0)
      assert.equal(await customers(key), there ? 1 : 0)
      assert.equal((await store.plan(plan)).kind, there ? 'consumed' : 'planned')
    })
  }

  test('an event that is known is a duplicate, and another content is a conflict in the same transaction', async () => {
    const event = next()
    const { receipt } = await accepted(store, { event, body: 'one' })
    await client.query('begin')
    assert.deepEqual(await store.acceptIn(executor, delivery({ event, body: 'one' })), {
      outcome: 'duplicate',
      receipt,
    })
    const conflict = await store.acceptIn(executor, delivery({ event, body: 'two' }))
    assert.equal(conflict.outcome, 'conflict')
    await client.query('commit')
    assert.equal((await store.showReceipt(conflict.receipt))?.quarantine?.reason, 'identity-conflict')
  })

  test('a conflict of effects writes nothing at all, even if the program commits; plan() then quarantines', async () => {
    const key = next()
    const existing = newEffect({ key, payload: 'one' })
    await store.plan(planFor(await accepted(store), existing))
    const record = await accepted(store)
    const other = newEffect({ key, payload: 'two' })
    const plan = planFor(record, newEffect({ key: `${key}/before` }), other)
    await client.query('begin')
    const answer = await store.planIn(executor, plan)
    assert.deepEqual(answer, {
      kind: 'conflict',
      recipient: 'bank',
      key,
      planned: other.fingerprint,
      existing: existing.fingerprint,
      quarantine: plan.onConflict.id,
    })
    await client.query('commit')
    assert.deepEqual(await store.showEffects(`${key}/before`), [])
    assert.equal((await store.showReceipt(record.receipt))?.receipt.state, 'accepted')
    assert.equal(await store.showQuarantine(plan.onConflict.id), null)
    assert.deepEqual(await store.plan(plan), answer)
    assert.equal((await store.showReceipt(record.receipt))?.receipt.state, 'quarantined')
  })

  test('a record that another worker consumed is told, and nothing is written', async () => {
    const plan = planFor(await accepted(store), newEffect())
    await store.plan(plan)
    await client.query('begin')
    assert.deepEqual(await store.planIn(executor, { ...plan, effects: [newEffect({ key: 'late' })] }), {
      kind: 'consumed',
    })
    await client.query('commit')
    assert.deepEqual(await store.showEffects('late'), [])
  })

  test('an effect that another transaction commits meanwhile ends the transaction; begun again, it shares the effect', async () => {
    const key = next()
    const [mine, theirs] = [await accepted(store), await accepted(store)]
    const other = new pg.Client({ connectionString: server.url() })
    await other.connect()
    try {
      await other.query('begin')
      await store.planIn(
        { dialect: 'postgres', query: async (sql, p) => (await other.query(sql, p as unknown[])).rows },
        planFor(theirs, newEffect({ key })),
      )
      await client.query('begin')
      // Waits for the other transaction, which holds the key.
      const refused = rejects(store.planIn(executor, planFor(mine, newEffect({ key }))), 'store_busy')
      await blocked()
      await other.query('commit')
      await refused
      await client.query('rollback')
      await client.query('begin')
      const planned = await store.planIn(executor, planFor(mine, newEffect({ key })))
      assert.equal(planned.kind === 'planned' && planned.effects[0]?.created, false)
      await client.query('commit')
      assert.equal((await store.showEffects(key))[0]?.causes.length, 2)
    } finally {
      await other.end()
    }
  })

  test('a transaction of another database is refused', async () => {
    const foreign: SqlExecutor = { ...executor, dialect: 'sqlite' }
    await rejects(store.acceptIn(foreign, delivery()), 'transaction_foreign')
    await rejects(store.planIn(foreign, planFor(await accepted(store))), 'transaction_foreign')
  })

  /** Some session waits for another's lock. */
  async function blocked(): Promise<void> {
    for (let tries = 0; tries < 200; tries++) {
      const rows = await server.query("select 1 from pg_stat_activity where wait_event_type = 'Lock'")
      if (rows.length > 0) return
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
    throw new Error('nobody waits')
  }
})
