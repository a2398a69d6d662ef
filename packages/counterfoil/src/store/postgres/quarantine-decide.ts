import type { QuarantineDecided, QuarantineDecision, QuarantineResult, SqlValue } from '../store.ts'
import type { AuditLog } from './audit.ts'
import type { Run } from './batches.ts'
import { booleans, texts } from './columns.ts'
import type { Row } from './connection.ts'
import { keyed, quoted, type Statement } from './statement.ts'
import { nowSql, type Timekeeper } from './time.ts'

type Entry = QuarantineDecision['entries'][number]

/** An operator's decision: entries by compare-and-set, and the audit row that says so, in one transaction. */
export class QuarantineDecide {
  readonly #audit: AuditLog
  readonly #time: Timekeeper
  readonly #statements

  constructor(schema: string, audit: AuditLog, time: Timekeeper) {
    this.#audit = audit
    this.#time = time
    this.#statements = decideStatements(schema)
  }

  /** @param run in the transaction of the decision; unless it is `decided`, nothing was written */
  async decide({ audit, entries, whole }: QuarantineDecision, run: Run): Promise<QuarantineDecided> {
    const made = await this.#audit.made(audit, run)
    if (made?.kind === 'other') return made
    if (made !== null) {
      const results = made.record.result.results as readonly QuarantineResult[]
      return { kind: 'decided', results, repeated: true }
    }
    const rows = await run(this.#statements.known, [texts(entries.map(({ id }) => id))])
    const known = new Map(rows.map((row) => [row.id as string, row]))
    const results = entries.map((entry) => resultOf(entry, known.get(entry.id)))
    const moving = entries.filter((entry, index) => results[index]!.outcome === entry.move.to)
    if (whole && moving.length < entries.length) return { kind: 'refused', results }
    const { number } = await this.#audit.append({ ...audit, result: { results } }, run)
    if (moving.length > 0) {
      const parameters = moveParameters(moving, known, audit, number, this.#time)
      await run(this.#statements.move, parameters)
    }
    return { kind: 'decided', results, repeated: false }
  }
}

export function decideStatements(schema: string): { readonly known: Statement; readonly move: Statement } {
  const s = quoted(schema)
  return {
    // The unique index of id. In one order everywhere; who returns an entry waits.
    known: {
      name: 'counterfoil_quarantine_known',
      writes: false,
      text: `
select seq::text, id, state, version::float8 from ${s}.quarantine where id = any($1::text[]) order by quarantine.seq for update`,
    },
    move: {
      name: 'counterfoil_quarantine_move',
      writes: true,
      text: `
with given as materialized (
  select * from unnest($1::bigint[], $2::text[], $3::boolean[], $4::text[], $5::text[], $6::text[])
    with ordinality as g(entry, state, assigns, assignee, reason, detail, n)
),
moved as (
  update ${s}.quarantine q set state = g.state, version = q.version + 1, attended_at = $7::bigint, changed_after = $8::bigint,
    assignee = case when g.assigns then g.assignee else q.assignee end
  from given g where q.seq = g.entry and ${keyed('q.seq', 'given', 'entry')}
  returning q.receipt, q.producer, g.state
),
noted as (
  insert into ${s}.quarantine_note (entry, at, reason, detail, by)
  select entry, $7::bigint, reason, detail, $9::text from given where reason is not null order by n
)
insert into ${s}.outbox (receipt, producer, at)
select receipt, producer, ${nowSql('$10::bigint')} from moved where state = 'released'`,
    },
  }
}

function resultOf({ id, expectedVersion, move }: Entry, known: Row | undefined): QuarantineResult {
  if (known === undefined) return { id, outcome: 'absent', version: 0 }
  const { state, version } = known
  if (state !== 'waiting') return { id, outcome: 'settled', version }
  if (version !== expectedVersion) return { id, outcome: 'stale', version }
  return { id, outcome: move.to, version: version + 1 }
}

function moveParameters(
  moving: readonly Entry[],
  known: ReadonlyMap<string, Row>,
  { at, operator }: QuarantineDecision['audit'],
  row: number,
  time: Timekeeper,
): SqlValue[] {
  const moves = moving.map(({ move }) => move)
  const kept = moves.map((move) => (move.to === 'kept' ? move : null))
  return [
    `{${moving.map(({ id }) => known.get(id)!.seq).join(',')}}`,
    texts(moves.map(({ to }) => (to === 'released' || to === 'dismissed' ? to : 'waiting'))),
    booleans(moves.map(({ to }) => to === 'assigned')),
    texts(moves.map((move) => (move.to === 'assigned' ? move.assignee : null))),
    texts(kept.map((move) => move?.reason)),
    texts(kept.map((move) => move && JSON.stringify(move.detail))),
    at,
    row,
    operator,
    time.now(at),
  ]
}
