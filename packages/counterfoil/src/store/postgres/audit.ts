import { auditDigest, auditOrigin, sameAct } from '../../domain/index.ts'
import { auditColumns, auditValues, toAudit } from '../audit-rows.ts'
import type { AuditRecord, NewAudit } from '../records.ts'
import type { Audited, AuditQuery } from '../store.ts'
import { storable } from './columns.ts'
import type { Run } from './connection.ts'
import { quoted, type Statement } from './statement.ts'

type Entry = NewAudit & { readonly result: AuditRecord['result'] }
type Other = Extract<Audited, { kind: 'other' }>

/** Above every character that a decision id may hold, and next to the slash. */
const afterSlash = '0'

/** The audit log. Its rows follow each other in one chain: who appends holds the log's lock until it commits. */
export class AuditLog {
  readonly #statements

  constructor(schema: string) {
    this.#statements = auditStatements(schema)
  }

  /**
   * What was recorded under this decision id, and whether it is the same act. Nobody appends from now on until the
   * transaction that `run` runs in ends.
   */
  async made(
    given: NewAudit,
    run: Run,
  ): Promise<Other | { readonly kind: 'audited'; readonly record: AuditRecord } | null> {
    await run(this.#statements.lock, [])
    const [row] = await run(this.#statements.byDecision, [storable(given.decision)])
    if (row === undefined) return null
    const existing = toAudit(row)
    return sameAct(existing, kept(given))
      ? { kind: 'audited', record: existing }
      : { kind: 'other', existing }
  }

  async audit(entry: Entry, run: Run): Promise<Audited> {
    const made = await this.made(entry, run)
    if (made !== null) return made.kind === 'other' ? made : { ...made, repeated: true }
    return { kind: 'audited', record: await this.append(entry, run), repeated: false }
  }

  /** After `made` in the same transaction. */
  async append(given: Entry, run: Run): Promise<AuditRecord> {
    const entry = kept(given)
    const [newest] = await run(this.#statements.newest, [])
    const number = (newest?.number ?? 0) + 1
    const previous = newest === undefined ? auditOrigin : Buffer.from(newest.digest).toString('hex')
    const record = { ...entry, number }
    const digest = auditDigest(previous, record)
    await run(this.#statements.append, auditValues({ ...record, digest }))
    return { ...record, digest }
  }

  async list(query: AuditQuery, run: Run): Promise<AuditRecord[]> {
    return (await this.#rows(query, run)).map(toAudit)
  }

  #rows(query: AuditQuery, run: Run): ReturnType<Run> {
    const { parts, about, up, down } = this.#statements
    const { limit, before = Number.MAX_SAFE_INTEGER, after, partsOf, subject } = query
    if (partsOf !== undefined) return run(parts, [`${partsOf}/`, `${partsOf}${afterSlash}`, limit])
    if (subject !== undefined) return run(about, [storable(subject), before, limit])
    return after !== undefined ? run(up, [after, limit]) : run(down, [before, limit])
  }
}

export function auditStatements(schema: string) {
  const s = quoted(schema)
  const statement = (name: string, text: string, writes = false): Statement => ({
    name: `counterfoil_audit_${name}`,
    writes,
    text,
  })
  const row = `select number::float8, at::float8, operator, role, act, subject, decision, reason, detail, result, digest from ${s}.audit`
  return {
    lock: statement('lock', `select ${s}.audit_append()`),
    newest: statement(
      'newest',
      `select number::float8, digest from ${s}.audit a order by a.number desc limit 1`,
    ),
    // The unique index of decision.
    byDecision: statement('by_decision', `${row} where decision = $1::text`),
    append: statement(
      'append',
      `insert into ${s}.audit (${auditColumns})
       values ($1::bigint, $2::bigint, $3::text, $4::text, $5::text, $6::text, $7::text, $8::text, $9::text, $10::text, $11::bytea)`,
      true,
    ),
    down: statement('down', `${row} where number < $1::bigint order by audit.number desc limit $2::int`),
    up: statement('up', `${row} where number > $1::bigint order by audit.number limit $2::int`),
    // audit_subject
    about: statement(
      'about',
      `${row} where hashtextextended(subject, 0) = hashtextextended($1::text, 0) and subject = $1::text and number < $2::bigint
       order by audit.number desc limit $3::int`,
    ),
    // The unique index of decision; its order is that of the parts, whose numbers have leading zeros.
    parts: statement(
      'parts',
      `${row} where decision > $1::text and decision < $2::text order by decision desc limit $3::int`,
    ),
  }
}

/** As PostgreSQL keeps it: the digest covers what is written. */
function kept<Given extends NewAudit>(given: Given): Given {
  const { operator, act, subject, decision, reason } = given
  const words = { operator, act, subject, decision, reason }
  const written = Object.entries(words).map(([name, text]) => [name, storable(text)])
  return { ...given, ...Object.fromEntries(written) }
}
