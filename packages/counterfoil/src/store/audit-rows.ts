import type { AuditRecord } from './records.ts'

/** The columns of the audit log, in the order of `auditValues`. */
export const auditColumns =
  'number, at, operator, role, act, subject, decision, reason, detail, result, digest' as const

/** A row as both databases keep it: objects as JSON text, the digest as bytes. */
export function auditValues(record: AuditRecord): (string | number | Uint8Array)[] {
  return [
    record.number,
    record.at,
    record.operator,
    record.role,
    record.act,
    record.subject,
    record.decision,
    record.reason,
    JSON.stringify(record.detail),
    JSON.stringify(record.result),
    Buffer.from(record.digest, 'hex'),
  ]
}

export function toAudit(row: Record<string, any>): AuditRecord {
  const { number, at, operator, role, act, subject, decision, reason } = row
  const detail = JSON.parse(row.detail)
  const result = JSON.parse(row.result)
  const digest = Buffer.from(row.digest).toString('hex')
  return { number, at, operator, role, act, subject, decision, reason, detail, result, digest }
}
