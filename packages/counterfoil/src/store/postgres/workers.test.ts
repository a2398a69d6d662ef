import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { WorkerId } from '../../domain/index.ts'
import { skipLoudly } from '../../testing/skip.ts'
import {
  accepted,
  alice,
  begun,
  bob,
  claim,
  delivery,
  effectOf,
  newEffect,
  planFor,
  plansOf,
  rejects,
  sealed,
  settlement,
} from '../conformance/given.ts'
import type { Store } from '../store.ts'
import { missing } from './fixtures/binaries.ts'
import { Server } from './fixtures/server.ts'
import { until } from './fixtures/standby.ts'
import { type PostgresOptions, postgres } from './index.ts'

const why = missing(18)
const hour = 3_600_000

describe('many workers on one database', () => {
  if (why !== undefined) {
    test('PostgreSQL 18', (t) => skipLoudly(t, why))
    return
  }
  let server: Server
  const stores: Store[] = []
  let schemas = 0
  before(async () => {
    server = await Server.start(18)
  })
  after(async () => {
    for (const store of stores) await store.close()
    await server.dispose()
  })

  async function open(schema: string, options: PostgresOptions = {}): Promise<Store> {
    const store = postgres(server.url(), { schema, ...options })
    await store.open({ migrate: true })
    stores.push(store)
    return store
  }
  const newSchema = () => `workers_${++schemas}`

  test('leases go by the database’s clock: a worker whose clock is an hour ahead takes nobody’s work', async () => {
    const store = await open(newSchema())
    const now = Date.now()
    const effect = newEffect({ key: 'clock', at: now })
    await store.plan({ ...planFor(await accepted(store, { at: now }), effect), at: now })
    const take = (worker: WorkerId, at: number) =>
      store.takeDue({ worker, now: at, leaseMs: 30_000, slots: { bank: 9 } })
    const [work] = await take(alice, now)
    assert.equal(work?.effect.dueAt, now + 30_000, 'told by the clock of who asks')
    assert.deepEqual(await take(bob, now + hour), [])
    // A clock that is behind still gets its whole lease, by its own clock.
    await store.renew({ worker: alice, effects: [effect.id], now: now - hour, leaseMs: 60_000 })
    const { dueAt } = await effectOf(store, effect.id)
    assert.ok(Math.abs(dueAt! - (Date.now() + 60_000)) < 30_000)
    const settled = await store.settle(
      settlement(work as never, { to: 'unknown', at: now + hour, dueAt: now + hour + 500 }),
    )
    assert.equal(settled.kind, 'settled')
    // Half a second after the settlement, wherever the clock of who settled stood.
    await until('it is due', async () => (await take(bob, now - hour)).length === 1)
  })

  test('an outbox lease, a hand-off and a delay go by the database’s clock too', async () => {
    const store = await open(newSchema())
    const at = Date.now() + hour
    const ahead = await accepted(store, { at })
    const handedOff = await accepted(store, { at, handOff: { worker: alice, leaseMs: 60_000 } })
    const first = plansOf(await claim(store, Date.now() - hour))
    assert.deepEqual(
      first.map(({ outbox }) => outbox),
      [ahead.outbox],
    )
    await store.postponePlan({ outbox: handedOff.outbox, at: Date.now() - 1, error: 'now' })
    await store.postponePlan({ outbox: ahead.outbox, at: Date.now() + hour, error: 'later' })
    const second = plansOf(await claim(store, Date.now() + 10 * hour))
    assert.deepEqual(
      second.map(({ outbox }) => outbox),
      [handedOff.outbox],
    )
  })

  test('a flood of one producer leaves each other producer its share of every claim', async () => {
    const store = await open(newSchema(), { clock: 'caller' })
    await store.acceptAll(Array.from({ length: 500 }, () => delivery({ producer: 'loud' })))
    for (const producer of ['quiet', 'shy']) await accepted(store, { producer })
    const claimed = plansOf(await claim(store, undefined, alice, 30))
    assert.equal(claimed.length, 30, 'what the others leave, the flood may have')
    const producers = new Set(claimed.map(({ receipt }) => receipt.producer))
    assert.deepEqual(producers, new Set(['loud', 'quiet', 'shy']))
  })

  test('a flood at one recipient takes no slot of another', async () => {
    const store = await open(newSchema(), { clock: 'caller' })
    for (let n = 0; n < 20; n++) {
      const effects = Array.from({ length: 20 }, () => newEffect({ recipient: 'slow' }))
      await store.plan(planFor(await accepted(store), ...effects))
    }
    await store.plan(planFor(await accepted(store), newEffect({ recipient: 'fast' })))
    const taken = await store.takeDue({
      worker: alice,
      now: newEffect().plannedAt,
      leaseMs: 1_000,
      slots: { slow: 5, fast: 5 },
    })
    const count = (name: string) => taken.filter(({ effect }) => effect.recipient === name).length
    assert.deepEqual([count('slow'), count('fast')], [5, 1])
  })

  test('a process that only receives wakes one that works (LISTEN), which polls all the same', async () => {
    const schema = newSchema()
    const [receiver, worker] = [await open(schema), await open(schema)]
    let hints = 0
    const end = worker.watch!(() => hints++)
    await until('it listens', async () => hints > 0)
    const before = hints
    await accepted(receiver)
    await until('the hint came', async () => hints > before)
    // The listening connection is cut: it comes back, and that counts as a hint, as one may have been missed.
    const now = hints
    await server.query("select pg_terminate_backend(pid) from pg_stat_activity where query ilike 'listen%'")
    await until('it listens again', async () => hints > now)
    end()
  })

  test('an accept that hands off in memory tells nobody else', async () => {
    const store = await open(newSchema())
    let hints = 0
    const end = store.watch!(() => hints++)
    await until('it listens', async () => hints > 0)
    hints = 0
    await accepted(store, { handOff: { worker: alice, leaseMs: 1_000 } })
    await accepted(store)
    await until('the second one’s hint came', async () => hints > 0)
    assert.equal(hints, 1)
    end()
  })

  test('totals stay right when they are folded while others commit', async () => {
    const schema = newSchema()
    const [one, two] = [await open(schema, { lanes: 4 }), await open(schema)]
    const accepts = Array.from({ length: 60 }, async (_, n) => {
      await (n % 2 === 0 ? one : two).accept(delivery())
      if (n % 10 === 0)
        await server.query(`
        with gone as (delete from ${schema}.tally where ctid = any(array(select ctid from ${schema}.tally for update skip locked)) returning *)
        insert into ${schema}.tally select name, sum(value) from gone group by name`)
    })
    await Promise.all(accepts)
    assert.equal((await one.status()).receipts.total, 60)
  })

  test('text that PostgreSQL cannot hold is held all the same: a NUL becomes the replacement character', async () => {
    const store = await open(newSchema(), { clock: 'caller' })
    const work = await begun(store)
    const attempt = {
      number: 1,
      outcome: 'confirmed',
      why: 'a\0b "c" \\d {e,f} NULL',
      status: 200,
      correlation: null,
      retryAfterMs: null,
    } as const
    await store.settle(settlement(work, { to: 'confirmed', attempt }))
    assert.equal((await effectOf(store, work.effect.id)).attempts[0]?.why, 'a\uFFFDb "c" \\d {e,f} NULL')
  })

  test('a session that would not wait for the disk is made to', async () => {
    const schema = newSchema()
    await server.query('alter role postgres set synchronous_commit = off')
    try {
      const store = await open(schema)
      await accepted(store)
      const session = await store.beginPlan({ timeoutMs: 5_000 })
      assert.deepEqual(await session.get("select current_setting('synchronous_commit') as waits"), {
        waits: 'on',
      })
      await session.rollback()
    } finally {
      await server.query('alter role postgres reset synchronous_commit')
    }
  })

  test('a lock that another holds too long is told as busy, and nothing was written', async () => {
    const store = await open(newSchema(), { lockTimeoutMs: 100 })
    const again = await accepted(store)
    await withLock(`lock table workers_${schemas}.effect in exclusive mode`, () =>
      rejects(store.plan(planFor(again, { ...newEffect(), request: sealed('x') })), 'store_busy'),
    )
    assert.equal((await store.showReceipt(again.receipt))?.receipt.state, 'accepted')
  })

  async function withLock(lock: string, run: () => Promise<void>): Promise<void> {
    const { default: pg } = await import('pg')
    const client = new pg.Client({ connectionString: server.url() })
    await client.connect()
    try {
      await client.query('begin')
      await client.query(lock)
      await run()
    } finally {
      await client.end()
    }
  }
})
