import type { Instant } from '../../domain/index.ts'
import type { AttemptRecord, EffectView, Sealed } from '../records.ts'
import { effectView, toAttempt, toEvidence } from '../rows.ts'
import type { Row } from './connection.ts'

/** Columns as statements select them; what they stand for is in store/rows.ts. */

export function receiptColumns(s: string): string {
  return `r.seq::text, r.id, r.delivery, r.producer, r.namespace, r.source, r.event_id, r.type, r.schema_version, r.fingerprint,
  r.raw_fingerprint, r.content_type, r.bytes::float8, r.signed, r.origin, r.waived, r.event_at::float8, r.received_at::float8, r.trace,
  case when exists (select 1 from ${s}.outbox o where o.receipt = r.seq) then 'accepted'
    when exists (select 1 from ${s}.quarantine q where q.receipt = r.seq and q.state <> 'released') then 'quarantined' else 'planned' end as state,
  coalesce((select c.id from ${s}.receipt c where c.seq = r.conflicts_with),
    (select m.id from ${s}.receipt_marker m where m.seq = r.conflicts_with)) as conflicts_with,
  case when not r.signed then (select c.id from ${s}.receipt c where not c.signed and c.fingerprint = r.fingerprint
    and c.producer = r.producer and c.seq < r.seq order by c.seq limit 1) end as same_content_as,
  (select d.count::float8 from ${s}.duplicate d where d.receipt = r.seq) as duplicates,
  (select d.last_at::float8 from ${s}.duplicate d where d.receipt = r.seq) as last_duplicate_at,
  (select p.at::float8 from ${s}.plan p where p.receipt = r.seq) as planned_at,
  (select p.by from ${s}.plan p where p.receipt = r.seq) as planned_by`
}

export function toSealed(row: Row): Sealed {
  return { keyId: row.key_id, nonce: plainBytes(row.nonce), ciphertext: plainBytes(row.ciphertext) }
}

/** Not the driver's Buffer: what the port hands out is plain. */
function plainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

export function quarantineColumns(s: string): string {
  return `q.id, q.reason, q.detail, q.owner, q.at::float8, q.producer, q.type, q.event_id, q.state, q.version::float8, q.assignee,
  q.attended_at::float8, q.changed_after::float8, q.receipt::text as receipt_seq,
  (select r.id from ${s}.receipt r where r.seq = q.receipt) as receipt`
}

/** What never changes of an effect. */
export const effectColumns = `
  e.seq::text, e.id, e.recipient, e.key, e.name, e.fingerprint, e.idempotency_key, e.order_domain, e.order_version::float8,
  e.planned_at::float8, e.trace`

/** What does. @param now parameter of `nowSql`, or that time @param column where it stands: in `o` (open), or in `f` (final) */
export function stateColumns(
  now: string,
  column: (name: string) => string = (name) => `coalesce(o.${name}, f.${name})`,
): string {
  return `${column('state')} as state, ${column('version')}::float8 as version, ${column('disputed')} as disputed,
  ${column('escalated')} as escalated, ${column('changed_at')}::float8 as changed_at, (o.at - ${now})::float8 as due_in`
}

/** Attempts and evidence of the effect `e` as JSON, in the order of their numbers. */
export function historyColumns(s: string, needed = 'true'): string {
  return `
  case when ${needed} then (select json_agg(a order by a.number) from ${s}.attempt a where a.effect = e.seq) end as attempts,
  case when ${needed} then (select json_agg(v order by v.seq) from ${s}.evidence v where v.effect = e.seq) end as evidence`
}

/**
 * @param reference what `due_in` counts from, by the caller's clock
 * @param begun an attempt that the same statement began, which its snapshot does not show
 */
export function toEffect(row: Row, reference: Instant, begun?: AttemptRecord): EffectView {
  const attempts = ((row.attempts ?? []) as Row[]).map(toAttempt)
  if (begun !== undefined) attempts.push(begun)
  const evidence = ((row.evidence ?? []) as Row[]).map(toEvidence)
  return effectView(row, row.due_in === null ? null : reference + row.due_in, attempts, evidence)
}
