import type { Sealed } from '../records.ts'

/** Columns as statements select them; what they stand for is in store/rows.ts. */

type Row = Record<string, any>

export const receiptColumns = `
  r.seq, r.id, r.delivery, r.producer, r.namespace, r.source, r.event_id, r.type, r.schema_version, r.fingerprint,
  r.raw_fingerprint, r.content_type, r.bytes, r.signed, r.origin, r.waived, r.event_at, r.received_at, r.state, r.duplicates,
  r.last_duplicate_at, r.planned_at, r.planned_by, r.trace,
  ${receiptId('r.conflicts_with')} as conflicts_with, ${receiptId('r.same_content_as')} as same_content_as`

/** Of a receipt that is there, or of its marker. */
function receiptId(seq: string): string {
  const of = (table: string) => `(select c.id from ${table} c where c.seq = ${seq})`
  return `coalesce(${of('counterfoil_receipt')}, ${of('counterfoil_receipt_marker')})`
}

export const quarantineColumns = `q.seq, q.id, q.reason, q.detail, q.owner, q.at, q.producer, q.type, q.event_id, q.state, q.version, q.assignee,
  q.attended_at, q.changed_after, q.receipt as receipt_seq,
  (select r.id from counterfoil_receipt r where r.seq = q.receipt) as receipt`

export function toSealed(row: Row): Sealed {
  return { keyId: row.key_id, nonce: row.nonce, ciphertext: row.ciphertext }
}

export const effectColumns = `
  e.seq, e.id, e.recipient, e.key, e.name, e.fingerprint, e.idempotency_key, e.order_domain, e.order_version, e.planned_at,
  e.state, e.version, e.disputed, e.escalated, e.changed_at, e.trace, d.at as due_at`
