import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { backfilled } from '../conformance/backfilling.ts'
import {
  accepted,
  alertsOf,
  alice,
  begun,
  claim,
  delivery,
  leaseMs,
  newAudit,
  newEffect,
  planFor,
  quarantine,
  rejects,
  settlement,
  start,
  unfit,
  unknownEffect,
} from '../conformance/given.ts'
import { describeOn } from './fixtures/describe-on.ts'
import { type PostgresOptions, postgres } from './index.ts'

/** The grants that the docs give, as their readers copy them. */
function documentedGrants(): string {
  const page = readFileSync(join(import.meta.dirname, '../../../../../docs/postgres.md'), 'utf8')
  const [, sql] = /```sql\n([\s\S]*?)```/.exec(page) ?? []
  assert.ok(sql)
  return sql
}

describeOn(15, 'with the roles that docs/postgres.md lists', (server) => {
  before(async () => {
    const owner = postgres(server.url())
    await owner.open({ migrate: true })
    await owner.close()
    await server.query(documentedGrants())
    await server.query('create table customer (name text)')
    await server.query('grant select, insert on customer to triggers')
  })

  const as = (role: string, options: PostgresOptions = {}) =>
    postgres(server.url().replace('postgres@', `${role}@`), { clock: 'caller', ...options })

  test('a worker does everything that the port offers', async () => {
    const store = as('counterfoil_worker')
    await store.open({ migrate: true })
    await accepted(store, { event: 'evt' })
    await store.accept(delivery({ event: 'evt' }))
    await store.accept(delivery({ event: 'evt', body: 'other' }))
    await store.accept(unfit('schema-failure'))
    const record = await accepted(store)
    await store.tryAlone({ worker: alice, outbox: record.outbox })
    await store.renewOutbox({ worker: alice, outbox: [record.outbox], now: start, leaseMs })
    await store.postponePlan({ outbox: record.outbox, at: start, error: 'x' })
    await store.quarantinePlan({ ...record, quarantine: quarantine('plan-failed'), at: start })
    const work = await begun(store)
    await store.renew({ worker: alice, effects: [work.effect.id], now: start, leaseMs })
    assert.equal((await store.settle(settlement(work, { to: 'confirmed' }))).kind, 'settled')
    const unknown = await unknownEffect(store)
    const repeat = {
      effect: unknown.id,
      expectedVersion: unknown.version,
      worker: alice,
      now: start,
      leaseMs,
    }
    assert.ok(await store.beginRepeat(repeat))
    const limits = { bank: { concurrency: 1, rate: { count: 1, perMs: 1_000 } } }
    for (const now of [start, start + leaseMs])
      await store.takeDue({ worker: alice, now, leaseMs, slots: { bank: 1 }, limits })
    const move = { to: 'kept' as const, reason: 'schema-failure' as const, detail: {} }
    const [entry] = (await store.listQuarantine({ limit: 1 })).entries
    const decided = await store.decideQuarantine({
      audit: newAudit(),
      entries: [{ id: entry!.id, expectedVersion: entry!.version, move }],
      whole: true,
    })
    assert.equal(decided.kind, 'decided')
    assert.equal(await store.alertUnattended({ now: start, since: start, owner: 'head', limit: 1 }), 1)
    const [first, ...others] = alertsOf(await claim(store))
    const effect = newEffect({ key: 'alert/as worker' })
    assert.equal((await store.planAlert({ outbox: first!.outbox, at: start, effect })).kind, 'planned')
    for (const { outbox } of others) await store.consumeAlert(outbox)
    assert.equal((await store.status()).outbox.waiting, 1)
    await backfilled(store)
    await store.close()
  })

  test('a worker can neither change what was received nor the schema', async () => {
    const worker = server.url().replace('postgres@', 'counterfoil_worker@')
    const { default: pg } = await import('pg')
    const client = new pg.Client({ connectionString: worker })
    await client.connect()
    for (const sql of [
      "update counterfoil.receipt set origin = 'x'",
      'delete from counterfoil.receipt',
      "update counterfoil.effect set key = 'x'",
      'delete from counterfoil.evidence',
      'drop table counterfoil.receipt',
      "insert into counterfoil.migration values (9, 'x', 'x')",
      'truncate counterfoil.final',
      "update counterfoil.quarantine set reason = 'plan-failed'",
      'delete from counterfoil.quarantine_note',
      "update counterfoil.audit set operator = 'x'",
      'delete from counterfoil.audit',
      'delete from counterfoil.backfill',
    ])
      await assert.rejects(client.query(sql), { code: '42501' }, sql)
    await client.end()
  })

  test('a reader reads, and is told that it may not write', async () => {
    const store = as('counterfoil_reader')
    await store.open({ migrate: false })
    assert.ok((await store.status()).receipts.total > 0)
    assert.ok((await store.listEffects({ limit: 10 })).length > 0)
    assert.ok((await store.listQuarantine({ limit: 10 })).entries.length > 0)
    assert.equal((await store.listAudit({ limit: 10 })).length, 3)
    const findings = await store.examine!()
    assert.equal(findings.find(({ check }) => check === 'visibility')?.level, undefined)
    await rejects(store.accept(delivery()), 'store_read_only')
    await store.close()
  })

  test('a trigger runs as its own role: not even through a function can it touch our tables', async () => {
    const store = as('counterfoil_worker', { triggerRole: 'triggers' })
    await store.open({ migrate: false })
    await server.query(
      `create function sly() returns void language sql as $$ delete from counterfoil.outbox $$`,
    )
    const record = await accepted(store)
    const session = await store.beginPlan({ timeoutMs: 5_000 })
    await rejects(session.run('select sly()'), 'statement_failed')
    await session.rollback()
    const good = await store.beginPlan({ timeoutMs: 5_000 })
    await good.run('insert into customer values ($1)', 'one')
    assert.equal((await good.commit(planFor(record, newEffect({ key: 'as worker' })))).kind, 'planned')
    assert.equal((await server.query('select 1 from customer')).length, 1)
    await store.close()
  })
})
