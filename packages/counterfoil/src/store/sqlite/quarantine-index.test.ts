import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plans, planUses as using } from './fixtures/plans.ts'

/** Every walk over quarantine entries, by what it begins with. */
const walks = [
  ["state = 'waiting' and assignee is :assignee", 'counterfoil_quarantine_assignee (assignee=? AND seq'],
  ["state = 'waiting' and type = :type", 'counterfoil_quarantine_type (type=? AND seq'],
  ["state = 'waiting' and owner = :owner", 'counterfoil_quarantine_owner (owner=? AND seq'],
  ["state = 'waiting' and producer = :producer", 'counterfoil_quarantine_producer (producer=? AND seq'],
  ["state = 'waiting' and reason = :reason", 'counterfoil_quarantine_why (reason=? AND seq'],
  ["where state = 'waiting' and seq", 'counterfoil_quarantine_waiting (seq'],
  ["state <> 'waiting' and state = :state", 'counterfoil_quarantine_state (state=? AND seq'],
  ['where true and seq', 'USING INTEGER PRIMARY KEY (rowid'],
] as const

test('each filter walks its own index from where the page before ended, in order, without sorting', () => {
  const all = plans()
  for (const [begins, index] of walks) {
    const found = all.filter(({ sql }) => sql.includes(begins) && /:from/.test(sql))
    assert.equal(found.length, 4, `${begins}: page and end, down and up`)
    for (const { sql, steps } of found) {
      assert.ok(
        steps.some((step) => step.includes(`SEARCH counterfoil_quarantine USING`) && step.includes(index)),
        `${sql}\n${steps.join('\n')}`,
      )
      assert.ok(!steps.some((step) => /TEMP B-TREE/.test(step)), `${sql}\n${steps.join('\n')}`)
    }
  }
})

test('what an operator and the engine ask of single entries is found by an index', () => {
  using(/assignee is null and attended_at <= \?/, 'counterfoil_quarantine_unattended')
  using(/from counterfoil_quarantine w join/, 'counterfoil_quarantine_held')
  using(/from counterfoil_quarantine_note where entry/, 'counterfoil_quarantine_note_entry')
  using(/from counterfoil_audit where decision/, 'sqlite_autoindex_counterfoil_audit')
  using(/set state = 'waiting', version/, 'sqlite_autoindex_counterfoil_quarantine')
})
