import type { DatabaseSync } from 'node:sqlite'
import { auditDigest, auditOrigin, sameAct } from '../../domain/index.ts'
import { auditColumns, auditValues, toAudit } from '../audit-rows.ts'
import type { AuditRecord, NewAudit } from '../records.ts'
import type { Audited, AuditQuery } from '../store.ts'

type Row = Record<string, any>

/** Above every character that a decision id may hold, and next to the slash. */
const afterSlash = '0'

/** The audit log. Its rows follow each other in one chain, so a writer holds the write lock, as every one here does. */
export class AuditLog {
  readonly #newest
  readonly #byDecision
  readonly #append
  readonly #down
  readonly #up
  readonly #parts
  readonly #about

  constructor(db: DatabaseSync) {
    this.#newest = db.prepare(
      'select number, digest from counterfoil_audit where number = (select max(number) from counterfoil_audit)',
    )
    // The unique index of decision.
    this.#byDecision = db.prepare('select * from counterfoil_audit where decision = ?')
    this.#append = db.prepare(`
      insert into counterfoil_audit (${auditColumns})
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
    this.#down = db.prepare('select * from counterfoil_audit where number < ? order by number desc limit ?')
    this.#up = db.prepare('select * from counterfoil_audit where number > ? order by number limit ?')
    // The unique index of decision; its order is that of the parts, whose numbers have leading zeros.
    this.#parts = db.prepare(`
      select * from counterfoil_audit where decision > ? and decision < ? order by decision desc limit ?`)
    // counterfoil_audit_subject
    this.#about = db.prepare(
      'select * from counterfoil_audit where subject = ? and number < ? order by number desc limit ?',
    )
  }

  /** What was recorded under this decision id, and whether it is the same act. */
  made(
    entry: NewAudit,
  ): Extract<Audited, { kind: 'other' }> | { kind: 'audited'; record: AuditRecord } | null {
    const row = this.#byDecision.get(entry.decision) as Row | undefined
    if (row === undefined) return null
    const existing = toAudit(row)
    return sameAct(existing, entry) ? { kind: 'audited', record: existing } : { kind: 'other', existing }
  }

  audit(entry: NewAudit & { readonly result: AuditRecord['result'] }): Audited {
    const made = this.made(entry)
    if (made !== null) return made.kind === 'other' ? made : { ...made, repeated: true }
    return { kind: 'audited', record: this.append(entry), repeated: false }
  }

  append(entry: NewAudit & { readonly result: AuditRecord['result'] }): AuditRecord {
    const newest = this.#newest.get() as { number: number; digest: Uint8Array } | undefined
    const number = (newest?.number ?? 0) + 1
    const previous = newest === undefined ? auditOrigin : Buffer.from(newest.digest).toString('hex')
    const record = { ...entry, number }
    const digest = auditDigest(previous, record)
    this.#append.run(...auditValues({ ...record, digest }))
    return { ...record, digest }
  }

  list(query: AuditQuery): AuditRecord[] {
    return this.#rows(query).map(toAudit)
  }

  #rows({ limit, before = Number.MAX_SAFE_INTEGER, after, partsOf, subject }: AuditQuery): Row[] {
    if (partsOf !== undefined) return this.#parts.all(`${partsOf}/`, `${partsOf}${afterSlash}`, limit)
    if (subject !== undefined) return this.#about.all(subject, before, limit)
    return after !== undefined ? this.#up.all(after, limit) : this.#down.all(before, limit)
  }
}
