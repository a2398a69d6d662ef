import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fingerprintReach } from '../search-bounds.ts'
import { plans, planUses as using } from './fixtures/plans.ts'

/** Small whatever the history: at most one row for each schema version, total or waiting thing. */
const small = /counterfoil_(migration|count|backfill)\b/

/** A search by fingerprint looks at so many of the newest rows, and at no more. */
const newest = new RegExp(`from (\\w+) order by seq desc limit ${fingerprintReach}\\)`)

test('no statement walks through a table, so that none gets slower with history', () => {
  const all = plans()
  assert.ok(all.length > 40)
  for (const { sql, steps } of all) {
    // What a subquery with a limit of its own has found: quarantine-index.test.ts holds how it found it.
    const walked = /limit coalesce\(\?4, -1\)\) w/.test(sql) ? 'w' : newest.exec(sql)?.[1]
    const limited = /limit :scan\)/.test(sql) ? 'SCAN q' : walked
    const scans = steps.filter(
      (step) =>
        /^SCAN/.test(step) &&
        step !== limited &&
        step !== `SCAN ${limited}` &&
        !/CONSTANT ROW|\(subquery/.test(step) &&
        !small.test(step),
    )
    assert.deepEqual(scans, [], sql)
    const sorts = steps.filter((step) => /TEMP B-TREE FOR ORDER BY/.test(step))
    // Few rows: the effects and causes of one receipt or effect, and effects of one name.
    if (!/counterfoil_cause c|idempotency_key = \?1/.test(sql)) assert.deepEqual(sorts, [], sql)
  }
})

test('what a comment says of an index is so', () => {
  using(/from counterfoil_outbox where lane = 0/, 'counterfoil_outbox_at')
  using(/from counterfoil_outbox where lane = 1/, 'counterfoil_outbox_behind')
  using(/update counterfoil_alert set at = \?, worker = \? where/, 'counterfoil_alert_at')
  using(
    /select effect from counterfoil_due where recipient = \? and at <= \? and in_turn/,
    'counterfoil_due_at',
  )
  using(
    /select effect from counterfoil_due where recipient = \? and at <= \? and lane = 1/,
    'counterfoil_due_behind',
  )
  using(/select effect from counterfoil_due where recipient = \? and domain/, 'counterfoil_due_domain')
  using(/select domain from counterfoil_due/, 'counterfoil_due_domain')
  using(/select seq from counterfoil_effect where recipient = \? and order_domain/, 'counterfoil_effect_turn')
  using(/where key = \? and recipient = \?/, 'counterfoil_effect_key')
  using(/event_id = \? and r.delivery = \?/, 'counterfoil_receipt_first')
  using(/producer = \? and fingerprint = \? and signed = 0/, 'counterfoil_receipt_content')
  using(/e.state <> 'confirmed'/, 'counterfoil_effect_state')
  using(/idempotency_key = \?1/, 'counterfoil_effect_idempotency')
  using(/idempotency_key = \? limit/, 'counterfoil_effect_idempotency')
  using(/from counterfoil_attempt where correlation/, 'counterfoil_attempt_correlation')
  using(/from counterfoil_evidence where correlation/, 'counterfoil_evidence_correlation')
  using(/key >= \? and key <= \?/, 'counterfoil_effect_key')
  using(/r.event_id >= \?/, 'counterfoil_receipt_first')
  using(/r.conflicts_with is not null and r.delivery in/, 'counterfoil_receipt_conflict')
  using(/e.recipient = \?2 and \?3 is null/, 'counterfoil_effect_recipient')
  using(/e.recipient = \?2 and e.state = \?3\s+and e.state in/, 'counterfoil_effect_ended')
  using(/and recipient = \?2 order by seq desc\)? limit/, 'counterfoil_effect_recipient')
  using(/from counterfoil_attempt a\s+where a.outcome/, 'counterfoil_effect_recipient')
  using(/group by recipient, state/, 'counterfoil_effect_state')
  using(/subject = \?/, 'counterfoil_audit_subject')
})
