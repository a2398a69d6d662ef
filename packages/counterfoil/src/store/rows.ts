import type { Instant } from '../domain/index.ts'
import { deliveryFromBytes, fingerprintFromBytes } from './digest.ts'
import type { AttemptRecord, EffectView, EvidenceRecord, QuarantineView, ReceiptView } from './records.ts'
import type { OpenState, RecipientSurvey } from './store.ts'

/** Rows as both databases give them, and the records they stand for. A truth is a boolean in one, 0 or 1 in the other. */

type Row = Record<string, any>

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
    provenance: row.signed ? 'signed' : 'unsigned',
    origin: row.origin,
    waived: row.waived,
    eventAt: row.event_at,
    receivedAt: row.received_at,
    trace: row.trace,
    state: row.state,
    vault: vaultOf(row.seq),
    duplicates: row.duplicates ?? 0,
    lastDuplicateAt: row.last_duplicate_at,
    conflictsWith: row.conflicts_with,
    sameContentAs: row.same_content_as,
    plannedAt: row.planned_at,
    plannedBy: row.planned_by,
  }
}

/** Where a receipt's sealed payload is kept. */
export function vaultOf(receipt: number | string): string {
  return `vault/${receipt}`
}

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

/** @param dueAt by the caller's clock */
export function effectView(
  row: Row,
  dueAt: Instant | null,
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
    trace: row.trace,
    state: row.state,
    version: row.version,
    disputed: Boolean(row.disputed),
    escalated: Boolean(row.escalated),
    changedAt: row.changed_at,
    dueAt,
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
    open: Boolean(row.open),
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

/**
 * @param open rows of `state`, `count`, `oldest_at`
 * @param recent rows of `outcome`, `count`, `last_at`
 */
export function toRecipientSurvey(
  recipient: string,
  open: readonly Row[],
  recent: readonly Row[],
): RecipientSurvey {
  const openIn = (state: OpenState) => {
    const row = open.find((one) => one.state === state)
    return { count: row?.count ?? 0, oldestAt: row?.oldest_at ?? null }
  }
  const of = (outcome: AttemptRecord['outcome']) => recent.find((one) => one.outcome === outcome)
  const countOf = (outcome: AttemptRecord['outcome']): number => of(outcome)?.count ?? 0
  return {
    recipient,
    open: {
      planned: openIn('planned'),
      attempting: openIn('attempting'),
      unknown: openIn('unknown'),
    },
    recent: {
      confirmed: countOf('confirmed'),
      refused: countOf('refused'),
      fenced: countOf('fenced'),
      notActed: countOf('notActed'),
      unknown: countOf('unknown'),
    },
    lastConfirmedAt: of('confirmed')?.last_at ?? null,
  }
}
