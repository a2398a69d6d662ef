import { keyed } from './statement.ts'

/** Of a CTE `given_up`: receipts that go to quarantine, whose outbox records this statement has deleted. */
interface GivenUp {
  /** Columns or parameters, as they read inside `from given_up g`. */
  readonly receipt: string
  readonly seq: string
  readonly id: string
  readonly reason: string
  readonly detail: string
  readonly owner: string
  readonly at: string
  /** The store's time. */
  readonly now: string
}

/**
 * CTEs that write the entries of given-up receipts and their alerts. A receipt that was in quarantine before was
 * released there, or it had no outbox record: it goes back to its entry, whose reason stays; the new one is a note.
 */
export function enterQuarantine(s: string, given: GivenUp): string {
  const { receipt, seq, id, reason, detail, owner, at, now } = given
  return `
-- The unique index of quarantine.receipt.
returned as (
  update ${s}.quarantine q set state = 'waiting', version = q.version + 1, attended_at = ${at}, changed_after = ${s}.audit_newest()
  from given_up g where q.receipt = ${seq} and q.state = 'released' and ${keyed('q.receipt', 'given_up g', seq)}
  returning q.receipt, q.seq, q.id, q.version, q.owner
),
entered as (
  insert into ${s}.quarantine (id, receipt, reason, detail, owner, at, attended_at, producer, type, event_id)
  select ${id}, r.seq, ${reason}, ${detail}, ${owner}, ${at}, ${at}, r.producer, r.type, r.event_id
  from given_up g cross join lateral (select * from ${s}.receipt where seq = ${seq} limit 1) r
  where not exists (select 1 from returned b where b.receipt = ${seq})
),
noted as (
  insert into ${s}.quarantine_note (entry, at, reason, detail, by)
  select b.seq, ${at}, ${reason}, ${detail}, 'engine' from given_up g join returned b on b.receipt = ${seq}
),
alerted as (
  insert into ${s}.alert (at, raised_at, reason, owner, receipt, quarantine, occasion)
  select ${now}, ${at}, ${reason}, coalesce(b.owner, ${owner}), ${receipt}, coalesce(b.id, ${id}),
    coalesce('returned/' || b.version, 'raised')
  from given_up g left join returned b on b.receipt = ${seq}
)`
}
