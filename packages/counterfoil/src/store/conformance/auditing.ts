import assert from 'node:assert/strict'
import { it } from 'node:test'
import { auditUnchecked, followAudit } from '../../domain/index.ts'
import type { AuditRecord } from '../records.ts'
import type { Audited, Store } from '../store.ts'
import { type MakeStore, newAudit, on } from './given.ts'

/** The append-only log of what operators do. */
export function auditing(make: MakeStore): void {
  it(
    'rows are numbered without a gap, in one chain, and come back as they were given',
    on(make, async (store) => {
      const entry = {
        ...newAudit({ reason: 'größe "🧾"', detail: { b: 1, a: [null] } }),
        result: { ok: true },
      }
      const record = recordOf(await store.audit(entry))
      assert.equal(record.number, 1)
      const { number: _, digest, ...content } = record
      assert.deepEqual(content, entry)
      assert.match(digest, /^[0-9a-f]{64}$/)
      await store.audit({ ...newAudit(), result: {} })
      const rows = await store.listAudit({ limit: 10, after: 0 })
      assert.deepEqual(rows[0], record)
      const check = followAudit(auditUnchecked, rows)
      assert.deepEqual([check.rows, check.broken], [2, null])
      assert.equal(check.digest, rows[1]?.digest)
    }),
  )

  it(
    'the same act again appends nothing; another one under its decision id is told so',
    on(make, async (store) => {
      const entry = { ...newAudit({ decision: 'once' }), result: { first: true } }
      const record = recordOf(await store.audit(entry))
      const later = { ...entry, at: entry.at + 1, result: { second: true } }
      assert.deepEqual(await store.audit(later), { kind: 'audited', record, repeated: true })
      const other = await store.audit({ ...entry, subject: 'another' })
      assert.deepEqual(other, { kind: 'other', existing: record })
      assert.equal((await store.listAudit({ limit: 5 })).length, 1)
    }),
  )

  it(
    'rows of two handles at once make one chain',
    on(make, async (store, { reopen }) => {
      const other = await reopen()
      await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          (index % 2 === 0 ? store : other).audit({ ...newAudit(), result: { index } }),
        ),
      )
      const check = followAudit(auditUnchecked, await store.listAudit({ limit: 100, after: 0 }))
      assert.deepEqual([check.rows, check.broken], [40, null])
    }),
  )

  it(
    'rows are listed newest first, oldest first, and by the parts of one decision',
    on(make, async (store) => {
      for (const decision of ['a', 'bulk', 'bulk/000001', 'bulk/000002', 'bulk-2', 'bulk0'])
        await store.audit({ ...newAudit({ decision }), result: {} })
      const list = async (query: Parameters<Store['listAudit']>[0]) =>
        (await store.listAudit(query)).map(({ decision }) => decision)
      assert.deepEqual(await list({ limit: 2 }), ['bulk0', 'bulk-2'])
      assert.deepEqual(await list({ limit: 2, before: 3 }), ['bulk', 'a'])
      assert.deepEqual(await list({ limit: 2, after: 1 }), ['bulk', 'bulk/000001'])
      assert.deepEqual(await list({ limit: 9, partsOf: 'bulk' }), ['bulk/000002', 'bulk/000001'])
      assert.deepEqual(await list({ limit: 1, partsOf: 'bulk' }), ['bulk/000002'])
      assert.deepEqual(await list({ limit: 9, partsOf: 'none' }), [])
    }),
  )
}

function recordOf(answer: Audited): AuditRecord {
  assert.equal(answer.kind, 'audited')
  return (answer as { record: AuditRecord }).record
}
