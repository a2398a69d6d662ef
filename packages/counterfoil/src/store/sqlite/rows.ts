import type {
  AttemptRecord,
  EffectView,
  EvidenceRecord,
  QuarantineView,
  ReceiptView,
  Sealed,
} from '../records.ts'
import { deliveryFromBytes, fingerprintFromBytes } from './digest.ts'

/** Rows as SQLite gives them, and the records they stand for. */

type Row = Record<string, any>

export const receiptColumns = `
  r.seq, r.id, r.delivery, r.producer, r.namespace, r.source, r.event_id, r.type, r.schema_version, r.fingerprint,
  r.raw_fingerprint, r.content_type, r.bytes, r.signed, r.origin, r.event_at, r.received_at, r.state, r.duplicates,
  r.last_duplicate_at, r.planned_at, r.planned_by,
  (select c.id from counterfoil_receipt c where c.seq = r.conflicts_with) as conflicts_with,
  (select c.id from counterfoil_receipt c where c.seq = r.same_content_as) as same_content_as`

export function toReceipt(row: Row): ReceiptView {
  return {
    id: row.id,
    delivery: deliveryFromBytes(row.delivery),
    producer: row.producer,
    namespace: row.namespace,
    source: row.source,
    eventId: row.event_id,
    type: row.type,
    schemaVersion: row.schema_version,
    fingerprint: fingerprintFromBytes(row.fingerprint),
    rawFingerprint: fingerprintFromBytes(row.raw_fingerprint),
    contentType: row.content_type,
    bytes: row.bytes,
    provenance: row.signed === 1 ? 'signed' : 'unsigned',
    origin: row.origin,
    eventAt: row.event_at,
    receivedAt: row.received_at,
    state: row.state,
    vault: vaultOf(row.seq),
    duplicates: row.duplicates,
    lastDuplicateAt: row.last_duplicate_at,
    conflictsWith: row.conflicts_with,
    sameContentAs: row.same_content_as,
    plannedAt: row.planned_at,
    plannedBy: row.planned_by,
  }
}

export const quarantineColumns = `q.seq, q.id, q.reason, q.detail, q.owner, q.at, q.producer, q.type, q.event_id, q.state, q.version, q.assignee,
  q.attended_at, q.changed_after, q.receipt as receipt_seq,
  (select r.id from counterfoil_receipt r where r.seq = q.receipt) as receipt`

export function toQuarantine(row: Row): QuarantineView {
  return {
    id: row.id,
    receipt: row.receipt,
    reason: row.reason,
    detail: JSON.parse(row.detail),
    owner: row.owner,
    vault: vaultOf(row.receipt_seq),
    at: row.at,
    producer: row.producer,
    type: row.type,
    eventId: row.event_id,
    state: row.state,
    version: row.version,
    assignee: row.assignee,
    attendedAt: row.attended_at,
    changedAfter: row.changed_after,
  }
}

/** Where a receipt's sealed payload is kept. */
export function vaultOf(receipt: number): string {
  return `vault/${receipt}`
}

export function toSealed(row: Row): Sealed {
  return { keyId: row.key_id, nonce: row.nonce, ciphertext: row.ciphertext }
}

export const effectColumns = `
  e.seq, e.id, e.recipient, e.key, e.name, e.fingerprint, e.idempotency_key, e.order_domain, e.order_version, e.planned_at,
  e.state, e.version, e.disputed, e.escalated, e.changed_at, d.at as due_at`

export function toEffect(
  row: Row,
  attempts: readonly AttemptRecord[],
  evidence: readonly EvidenceRecord[],
): EffectView {
  return {
    id: row.id,
    recipient: row.recipient,
    key: row.key,
    name: row.name,
    fingerprint: fingerprintFromBytes(row.fingerprint),
    idempotencyKey: row.idempotency_key,
    order: row.order_domain === null ? null : { domain: row.order_domain, version: row.order_version },
    plannedAt: row.planned_at,
    state: row.state,
    version: row.version,
    disputed: row.disputed === 1,
    escalated: row.escalated === 1,
    changedAt: row.changed_at,
    dueAt: row.due_at,
    attempts,
    evidence,
  }
}

export function toAttempt(row: Row): AttemptRecord {
  return {
    number: row.number,
    begunAt: row.begun_at,
    endedAt: row.ended_at,
    outcome: row.outcome,
    open: row.open === 1,
    why: row.why,
    status: row.status,
    correlation: row.correlation,
    retryAfterMs: row.retry_after_ms,
    worker: row.worker,
  }
}

export function toEvidence(row: Row): EvidenceRecord {
  return {
    at: row.at,
    kind: row.kind,
    fact: row.fact,
    attempt: row.attempt,
    from: row.from_state,
    to: row.to_state,
    why: row.why,
    status: row.status,
    correlation: row.correlation,
    by: row.by,
  }
}
