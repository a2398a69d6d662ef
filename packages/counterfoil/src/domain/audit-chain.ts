import { hash } from 'node:crypto'
import { canonicalize } from './canonical.ts'
import type { Instant } from './ids.ts'
import type { JsonValue } from './json.ts'

/** What a row of the audit log says; its number is its place, so rows can neither be taken out nor change places. */
export interface AuditContent {
  readonly number: number
  readonly at: Instant
  readonly operator: string
  readonly role: string
  readonly act: string
  readonly subject: string
  readonly decision: string
  readonly reason: string
  readonly detail: Readonly<Record<string, unknown>>
  readonly result: Readonly<Record<string, unknown>>
}

/** Stands before the first row. */
export const auditOrigin = '0'.repeat(64)

/**
 * Hexadecimal SHA-256 of the previous row's digest, a line feed, and the canonical JSON (RFC 8785) of the row. It
 * is no secret: who may rewrite the whole file can make another chain. So note the newest digest elsewhere, and
 * `audit verify --head` proves that what it covered is still there.
 */
export function auditDigest(previous: string, row: AuditContent): string {
  const { number, at, operator, role, act, subject, decision, reason, detail, result } = row
  const content = { number, at, operator, role, act, subject, decision, reason, detail, result }
  return hash('sha256', `${previous}\n${canonicalize(content as unknown as JsonValue)}`)
}

/** How far a chain has been followed. */
export interface AuditCheck {
  /** Rows that fit so far. */
  readonly rows: number
  readonly digest: string
  /** The first row that does not follow from the one before, and why. */
  readonly broken: { readonly number: number; readonly why: string } | null
}

export const auditUnchecked: AuditCheck = { rows: 0, digest: auditOrigin, broken: null }

/** Follows the chain over further rows, oldest first; stops at the first that does not fit. */
export function followAudit(
  before: AuditCheck,
  rows: readonly (AuditContent & { readonly digest: string })[],
): AuditCheck {
  let check = before
  for (const row of rows) {
    if (check.broken !== null) return check
    const expected = check.rows + 1
    if (row.number !== expected) {
      const why = `row ${expected} is missing: row ${row.number} comes after row ${check.rows}`
      return { ...check, broken: { number: expected, why } }
    }
    if (auditDigest(check.digest, row) !== row.digest) {
      const why = `what row ${row.number} says does not give its digest: it, or the row before, was altered`
      return { ...check, broken: { number: row.number, why } }
    }
    check = { rows: row.number, digest: row.digest, broken: null }
  }
  return check
}

/** The same act asked again, perhaps later: what makes a repeated decision id harmless. */
export function sameAct(one: AuditAct, other: AuditAct): boolean {
  return actText(one) === actText(other)
}

type AuditAct = Pick<AuditContent, 'operator' | 'act' | 'subject' | 'decision' | 'reason' | 'detail'>

function actText({ operator, act, subject, decision, reason, detail }: AuditAct): string {
  return canonicalize({ operator, act, subject, decision, reason, detail } as unknown as JsonValue)
}
