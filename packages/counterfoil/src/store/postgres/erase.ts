import type { Erased, Erasure, RetentionState } from '../store.ts'
import type { AuditLog } from './audit.ts'
import { numbers, texts } from './columns.ts'
import type { Run } from './connection.ts'
import { quoted, type Statement } from './statement.ts'

/** Payloads and requests of one person, destroyed on request, with the audit row that says so, in one transaction. */
export class Erase {
  readonly #audit: AuditLog
  readonly #statements

  constructor(schema: string, audit: AuditLog) {
    this.#audit = audit
    this.#statements = eraseStatements(schema)
  }

  /** @param run in the transaction of the erasure; unless it is `erased`, nothing was written */
  async erase({ audit, receipts, effects }: Erasure, run: Run): Promise<Erased> {
    const made = await this.#audit.made(audit, run)
    if (made?.kind === 'other') return made
    if (made !== null) {
      const { payloads, requests } = made.record.result as { payloads: number; requests: number }
      return { kind: 'erased', payloads, requests, repeated: true }
    }
    const named = [texts(receipts), texts(effects)]
    const foundReceipts = await run(this.#statements.receipts, named)
    const foundEffects = await run(this.#statements.effects, named)
    const open = [foundReceipts, foundEffects].map((found) =>
      found.filter(({ done }) => !done).map(({ id }) => id),
    )
    const [openReceipts = [], openEffects = []] = open
    if (openReceipts.length + openEffects.length > 0) {
      return { kind: 'refused', receipts: openReceipts, effects: openEffects }
    }
    const seqs = [foundReceipts, foundEffects].map((found) => numbers(found.map(({ seq }) => seq)))
    const [gone] = await run(this.#statements.destroy, seqs)
    const result = { payloads: gone!.payloads as number, requests: gone!.requests as number }
    await this.#audit.append({ ...audit, result }, run)
    return { kind: 'erased', ...result, repeated: false }
  }
}

export function eraseStatements(schema: string) {
  const s = quoted(schema)
  const receipts = `select seq from ${s}.receipt where id = any($1::text[])`
  const effects = `select seq from ${s}.effect where id = any($2::text[])`
  const reads = (name: string, text: string): Statement => ({
    name: `counterfoil_erase_${name}`,
    writes: false,
    text,
  })
  return {
    // The unique indexes of both ids, cause_effect and cause_receipt.
    receipts: reads(
      'receipts',
      `select r.seq::float8, r.id, not exists (select 1 from ${s}.outbox o where o.receipt = r.seq)
         and not exists (select 1 from ${s}.quarantine q where q.receipt = r.seq and q.state = 'waiting') as done
       from ${s}.receipt r where r.seq = any(array(${receipts}
         union select receipt from ${s}.cause where effect = any(array(${effects})))) order by r.seq`,
    ),
    effects: reads(
      'effects',
      `select e.seq::float8, e.id, exists (select 1 from ${s}.final f where f.effect = e.seq) as done
       from ${s}.effect e where e.seq = any(array(${effects}
         union select effect from ${s}.cause where receipt = any(array(${receipts})))) order by e.seq`,
    ),
    destroy: {
      name: 'counterfoil_erase',
      writes: true,
      text: `
with payloads as (delete from ${s}.vault where receipt = any($1::bigint[]) returning receipt),
requests as (delete from ${s}.request where effect = any($2::bigint[]) returning effect)
select (select count(*) from payloads)::int as payloads, (select count(*) from requests)::int as requests`,
    },
  }
}

/** How far retention has come, and how large the store is. */
export async function retentionState(state: Statement, run: Run): Promise<RetentionState> {
  const [row] = await run(state, [])
  const { boundary, receipts, effects, payload_at: payloadAt, receipt_at: receiptAt, bytes } = row!
  return {
    boundary: boundary === 0 ? null : boundary,
    markers: { receipts, effects },
    oldest: { payloadAt, receiptAt },
    size: { bytes, freeBytes: null },
  }
}

export function retentionStateStatement(schema: string): Statement {
  const s = quoted(schema)
  const total = (name: string) =>
    `(select coalesce(sum(value), 0)::float8 from ${s}.tally where name = '${name}')`
  return {
    name: 'counterfoil_retention_state',
    writes: false,
    text: `
select coalesce((select boundary from ${s}.retention where one = 1), 0)::float8 as boundary, ${total('receipt markers')} as receipts, ${total('effect markers')} as effects,
  (select received_at::float8 from ${s}.receipt where seq = (select min(receipt) from ${s}.vault)) as payload_at,
  (select received_at::float8 from ${s}.receipt where seq = (select min(seq) from ${s}.receipt)) as receipt_at,
  (select sum(pg_total_relation_size(quote_ident(t.schemaname) || '.' || quote_ident(t.tablename)))::float8
    from pg_tables t where t.schemaname = '${schema}') as bytes`,
  }
}
