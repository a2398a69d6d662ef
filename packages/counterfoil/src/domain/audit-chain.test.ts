import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type AuditContent,
  auditDigest,
  auditOrigin,
  auditUnchecked,
  followAudit,
  sameAct,
} from './audit-chain.ts'

type Row = AuditContent & { readonly digest: string }

function chain(length: number): Row[] {
  const rows: Row[] = []
  for (let number = 1; number <= length; number++) {
    const content: AuditContent = {
      number,
      at: 1_790_000_000_000 + number,
      operator: 'dana',
      role: 'operator',
      act: 'quarantine.dismiss',
      subject: `qua_${number}`,
      decision: `d-${number}`,
      reason: 'a test event',
      detail: { expectedVersion: number },
      result: { results: [] },
    }
    rows.push({ ...content, digest: auditDigest(rows.at(-1)?.digest ?? auditOrigin, content) })
  }
  return rows
}

test('a whole chain fits, at once and in pieces, and ends in the digest of its newest row', () => {
  const rows = chain(7)
  const whole = followAudit(auditUnchecked, rows)
  assert.deepEqual(whole, { rows: 7, digest: rows.at(-1)?.digest, broken: null })
  const half = followAudit(auditUnchecked, rows.slice(0, 3))
  assert.deepEqual(followAudit(half, rows.slice(3)), whole)
  assert.deepEqual(followAudit(auditUnchecked, []), auditUnchecked)
})

test('whatever is altered in whatever row, that row is named', () => {
  const changes: Partial<Row>[] = [
    { at: 1 },
    { operator: 'mallory' },
    { role: 'approver' },
    { act: 'quarantine.reprocess' },
    { subject: 'qua_x' },
    { decision: 'd-x' },
    { reason: '' },
    { detail: {} },
    { result: { results: [1] } },
    { digest: '0'.repeat(64) },
  ]
  fc.assert(
    fc.property(fc.nat({ max: 5 }), fc.constantFrom(...changes), (at, change) => {
      const rows = chain(6)
      rows[at] = { ...rows[at]!, ...change }
      assert.equal(followAudit(auditUnchecked, rows).broken?.number, at + 1)
    }),
  )
})

test('a row that is gone, or that changed places, is named', () => {
  const rows = chain(5)
  const without = rows.filter(({ number }) => number !== 3)
  assert.match(followAudit(auditUnchecked, without).broken?.why ?? '', /row 3 is missing/)
  const [a, b, c, d, e] = rows as [Row, Row, Row, Row, Row]
  assert.equal(
    followAudit(auditUnchecked, [a, { ...c, number: 2 }, { ...b, number: 3 }, d, e]).broken?.number,
    2,
  )
})

test('an altered row whose own digest was made anew breaks the row after it', () => {
  const rows = chain(3)
  const altered = { ...rows[1]!, reason: 'another' }
  rows[1] = { ...altered, digest: auditDigest(rows[0]!.digest, altered) }
  assert.equal(followAudit(auditUnchecked, rows).broken?.number, 3)
})

test('the same act is the same whenever it is asked and whatever the order of its members', () => {
  const [row] = chain(1) as [Row]
  assert.ok(sameAct({ ...row, detail: { a: 1, b: 2 } }, { ...row, detail: { b: 2, a: 1 }, at: 5 } as Row))
  for (const change of [{ reason: 'x' }, { subject: 'x' }, { operator: 'x' }, { detail: { x: 1 } }])
    assert.ok(!sameAct(row, { ...row, ...change }))
})
