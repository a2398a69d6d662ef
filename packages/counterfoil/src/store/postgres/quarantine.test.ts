import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { skipLoudly } from '../../testing/skip.ts'
import {
  alertsOf,
  claim,
  newAudit,
  newEffect,
  quarantine,
  quarantineId,
  start,
  unfit,
} from '../conformance/given.ts'
import type { Acceptance, Store } from '../store.ts'
import { missing } from './fixtures/binaries.ts'
import { ledgerFaults } from './fixtures/ledger-faults.ts'
import { Server } from './fixtures/server.ts'
import { postgres } from './index.ts'

const why = missing(18)

describe('quarantine in PostgreSQL', () => {
  if (why !== undefined) {
    test('PostgreSQL 18', (t) => skipLoudly(t, why))
    return
  }
  let server: Server
  before(async () => {
    server = await Server.start(18)
  })
  after(() => server.dispose())

  const opened = async (schema: string) => {
    const store = postgres(server.url(), { schema, clock: 'caller' })
    return { store, report: await store.open({ migrate: true }) }
  }

  test('keeps the entries and alerts of before its migration, and they wait', async () => {
    const name = '0001_ledger.sql'
    const sql = readFileSync(new URL(`./migrations/${name}`, import.meta.url), 'utf8')
    await server.query('create schema older')
    await server.query(sql, [], 'older')
    await server.query(
      `create table migration (version int primary key, name text not null, checksum text not null, applied_at timestamptz not null default now());
       insert into migration values (1, '${name}', '${hash('sha256', sql)}');
       insert into receipt (seq, id, delivery, producer, namespace, source, event_id, type, fingerprint, raw_fingerprint,
         content_type, bytes, signed, origin, received_at)
       values (5, 'rcp_5', decode(repeat('00', 32), 'hex'), 'stripe', 'stripe', 'test', 'evt_5', 'odd',
         decode('01' || repeat('00', 32), 'hex'), decode('02' || repeat('00', 32), 'hex'), 'application/json', 2, true, 'live', 100);
       insert into quarantine (id, receipt, reason, detail, owner, at)
       values ('qua_5', 5, 'unsupported-type', '{"type":"odd"}', 'billing', 100);
       insert into alert (at, raised_at, reason, owner, receipt, quarantine)
       values (100, 100, 'unsupported-type', 'billing', 'rcp_5', 'qua_5')`,
      [],
      'older',
    )
    const { store, report } = await opened('older')
    assert.equal(report.from, 1)
    assert.equal(report.applied[0], '0002_quarantine.sql')
    const { entry } = (await store.showQuarantine('qua_5'))!
    assert.deepEqual(
      [entry.producer, entry.type, entry.eventId, entry.state, entry.version, entry.attendedAt],
      ['stripe', 'odd', 'evt_5', 'waiting', 1, 100],
    )
    const [alert] = alertsOf(await claim(store, 200))
    assert.equal(alert?.alert.occasion, 'raised')
    await store.close()
  })

  test('looks at a bounded number of entries for a page, and the pages still find the one', async () => {
    const { store } = await opened('many')
    const first = unfit('schema-failure', { event: 'the one' })
    await store.accept(first)
    await server.query(
      `insert into quarantine (id, receipt, reason, detail, owner, at, attended_at, producer, type, event_id)
       select 'qua_' || n, 1000 + n, 'unsupported-type', '{}', 'billing', 0, 0, 'stripe', 'odd', 'evt_' || n from generate_series(1, 12000) n`,
      [],
      'many',
    )
    const query = { limit: 10, state: 'waiting' as const, event: 'the one' }
    const found: string[] = []
    let before: string | undefined
    let pages = 0
    do {
      const { entries, next } = await store.listQuarantine({ ...query, ...(before && { before }) })
      found.push(...entries.map(({ id }) => id))
      before = next ?? undefined
      pages++
    } while (before !== undefined)
    assert.equal(pages, 3)
    assert.deepEqual(found, [first.next.kind === 'quarantine' && first.next.quarantine.id])
    await store.close()
  })

  test('an entry that comes back while an audit row is being appended has changed after that row', async () => {
    const { store } = await opened('meanwhile')
    const record = await released(store)
    const operator = new pg.Client({
      connectionString: server.url(),
      options: '-c search_path=meanwhile',
    })
    await operator.connect()
    await operator.query('begin')
    await operator.query('select audit_append()')
    const given = { ...quarantine('plan-failed'), id: quarantineId() }
    const back = store.quarantinePlan({ ...record, quarantine: given, at: start })
    await waitsForLock()
    await operator.query(
      `insert into audit select number + 1, at, operator, role, act, subject, 'meanwhile', reason, detail, result, digest from audit`,
    )
    await operator.query('commit')
    await back
    const [entry] = (await store.listQuarantine({ limit: 1 })).entries
    assert.deepEqual([entry?.state, entry?.changedAfter], ['waiting', 2])
    await operator.end()
    await store.close()
  })

  test('two that plan one alert, or two alerts of one effect, at once create the effect once', async () => {
    const { store } = await opened('alerts')
    const other = (await opened('alerts')).store
    for (let round = 0; round < 10; round++) {
      await store.accept(unfit('schema-failure'))
      await store.accept(unfit('schema-failure'))
      const [one, two] = alertsOf(await claim(store))
      const effect = () => ({ ...newEffect({ key: `alert/${round}` }), trigger: 'alert' })
      const plan = (by: Store, outbox: number) => by.planAlert({ outbox, at: start, effect: effect() })
      const answers = await Promise.all([
        plan(store, one!.outbox),
        plan(other, one!.outbox),
        plan(store, two!.outbox),
      ])
      assert.equal(answers.filter((answer) => answer.kind === 'consumed').length, 1)
      assert.equal(answers.filter((answer) => answer.kind === 'planned' && answer.created).length, 1)
      const [story] = await store.showEffects(`alert/${round}`)
      assert.equal(story?.causes.length, 2)
    }
    assert.deepEqual(await ledgerFaults(server, 'alerts'), [])
    await store.close()
    await other.close()
  })

  test('the audit log takes no change, not even from its owner, and what was dismissed stays so', async () => {
    const { store } = await opened('kept')
    await released(store)
    await store.accept(unfit('schema-failure'))
    const refused = { code: '23000' }
    for (const sql of [
      "update audit set operator = 'x'",
      'delete from audit',
      'truncate audit',
      "update quarantine set owner = 'x'",
    ])
      await assert.rejects(server.query(sql, [], 'kept'), refused, sql)
    await server.query("update quarantine set state = 'dismissed'", [], 'kept')
    await assert.rejects(server.query("update quarantine set state = 'released'", [], 'kept'), refused)
    await store.close()
  })

  test('a decision is announced to the workers of other processes', async () => {
    const { store } = await opened('awake')
    const listener = new pg.Client({ connectionString: server.url() })
    await listener.connect()
    await listener.query('listen counterfoil_awake')
    const notice = () => new Promise<void>((resolve) => listener.once('notification', () => resolve()))
    const [given, accepted] = [unfit('unsupported-type'), notice()]
    await store.accept(given)
    await accepted
    const announced = notice()
    await release(store, given)
    await announced
    await listener.end()
    await store.close()
  })

  async function waitsForLock(): Promise<void> {
    for (let looks = 0; looks < 1_000; looks++) {
      const rows = await server.query("select 1 from pg_stat_activity where wait_event = 'advisory'")
      if (rows.length > 0) return
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    assert.fail('nobody waits for the lock of the audit log')
  }
})

/** The outbox record of a receipt that was in quarantine. */
async function released(store: Store) {
  const given = unfit('unsupported-type')
  await store.accept(given)
  await release(store, given)
  const [receipt] = await store.listReceipts({ limit: 1, state: 'accepted' })
  assert.equal(receipt?.id, given.receipt.id)
  return { outbox: Number(receipt.vault.replace('vault/', '')), receipt: receipt.id }
}

async function release(store: Store, { next }: Acceptance): Promise<void> {
  assert.ok(next.kind === 'quarantine')
  const entries = [{ id: next.quarantine.id, expectedVersion: 1, move: { to: 'released' as const } }]
  const decided = await store.decideQuarantine({ audit: newAudit(), entries, whole: true })
  assert.equal(decided.kind, 'decided')
}
