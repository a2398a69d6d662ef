import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { quarantineId } from '../conformance/given.ts'
import { temporaryDirectory } from './fixtures/temporary.ts'
import { sqlite } from './index.ts'

/** A store as the version with the first `count` migrations left it. */
function older(path: string, names: readonly string[], rows: string): void {
  const db = new DatabaseSync(path)
  db.exec(
    'create table counterfoil_migration (version integer primary key, name text not null, checksum text not null, applied_at integer not null) strict',
  )
  for (const [index, name] of names.entries()) {
    const sql = readFileSync(new URL(`./migrations/${name}`, import.meta.url), 'utf8')
    db.exec(sql)
    db.prepare('insert into counterfoil_migration values (?, ?, ?, 0)').run(
      index + 1,
      name,
      hash('sha256', sql),
    )
  }
  db.exec(rows)
  db.close()
}

test('entries and alerts of before the quarantine migration are kept, and wait', async () => {
  const directory = temporaryDirectory()
  const path = join(directory.path, 'older.db')
  const id = quarantineId()
  older(
    path,
    ['0001_ledger.sql'],
    `insert into counterfoil_receipt (seq, id, delivery, producer, namespace, source, event_id, type, fingerprint,
       raw_fingerprint, content_type, bytes, signed, origin, received_at, state)
     values (5, 'rcp_5', randomblob(32), 'stripe', 'stripe', 'test', 'evt_5', 'odd', cast(x'01' || randomblob(32) as blob),
       cast(x'02' || randomblob(32) as blob), 'application/json', 2, 1, 'live', 100, 'quarantined');
     insert into counterfoil_quarantine (seq, id, receipt, reason, detail, owner, at)
     values (9, '${id}', 5, 'unsupported-type', '{"type":"odd"}', 'billing', 100);
     insert into counterfoil_alert (at, raised_at, reason, owner, receipt, quarantine)
     values (100, 100, 'unsupported-type', 'billing', 'rcp_5', '${id}');`,
  )
  const store = sqlite(path)
  try {
    const report = await store.open({ migrate: true })
    assert.equal(report.from, 1)
    assert.ok(report.applied.includes('0002_quarantine.sql'))
    const { entry } = (await store.showQuarantine(id))!
    assert.deepEqual(
      [entry.producer, entry.type, entry.eventId, entry.state, entry.version, entry.attendedAt],
      ['stripe', 'odd', 'evt_5', 'waiting', 1, 100],
    )
    const [alert] = await store.claimOutbox({ worker: 'wrk_1' as never, now: 200, leaseMs: 1, limit: 5 })
    assert.equal(alert?.kind === 'alert' && alert.alert.occasion, 'raised')
  } finally {
    await store.close()
    directory.remove()
  }
})
