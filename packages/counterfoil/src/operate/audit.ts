import type { Counterfoil } from '../counterfoil.ts'
import { type AuditCheck, auditUnchecked, followAudit } from '../domain/index.ts'
import type { AuditQuery, AuditRecord } from '../store/index.ts'
import { authorise, type Operator } from './operator.ts'

/** @throws CounterfoilError `not_authorised` */
export async function listAudit(
  app: Counterfoil,
  operator: Operator,
  query: AuditQuery,
): Promise<AuditRecord[]> {
  authorise(operator, 'audit.list')
  return await app.store.listAudit(query)
}

export interface AuditVerification extends AuditCheck {
  /** Whether the digest that was noted earlier is that of one of the rows; null when none was given. */
  readonly headFound: boolean | null
}

const page = 1_000

/**
 * Follows the whole chain, a page at a time.
 *
 * @param head a digest that was noted elsewhere: the chain up to it is the one of then, and no row of it is gone
 */
export async function verifyAudit(
  app: Counterfoil,
  operator: Operator,
  head?: string,
): Promise<AuditVerification> {
  authorise(operator, 'audit.verify')
  let check = auditUnchecked
  let headFound = head === undefined ? null : head === check.digest
  for (;;) {
    const rows = await app.store.listAudit({ after: check.rows, limit: page })
    const before = check.rows
    check = followAudit(check, rows)
    const good = rows.slice(0, check.rows - before)
    headFound ||= head === undefined ? null : good.some(({ digest }) => digest === head)
    if (rows.length < page || check.broken !== null) return { ...check, headFound }
  }
}
