import type { Accepted } from '../store.ts'
import { arrivalColumns, digestColumns, receiptRow, sealedColumns } from './arrival-columns.ts'
import type { Arrivals } from './arrivals.ts'
import { type Rows, rowsOf } from './columns.ts'
import type { Row } from './connection.ts'
import { among, quoted, type Statement } from './statement.ts'
import { nowSql } from './time.ts'

/**
 * Nearly every delivery is new, fit, and of an identity that is signed. For those a statement with four inserts and no
 * question does, at about half the cost of the one that can answer them all.
 */
export function mayBeFresh({ first: { receipt, next }, copies }: Arrivals): boolean {
  return next.kind === 'plan' && receipt.provenance === 'signed' && copies.length === 0
}

/**
 * Design decision 1 for deliveries whose identity nobody has. What it leaves out was not new, or is old, or has to be
 * looked for among markers: nothing of it is written, and `acceptStatement` decides.
 */
export function acceptFreshStatement(schema: string, rows: Rows): Statement {
  const s = quoted(schema)
  return {
    name: `counterfoil_accept_fresh_${rows}`,
    writes: true,
    text: `
with given as materialized (
  select g.*, nextval('${s}.receipt_seq') as seq, ${digestColumns}
  from ${rowsOf(rows, 'g', arrivalColumns, 'n')}
),
-- receipt_first decides.
fresh as (
  insert into ${s}.receipt (${receiptRow})
  select ${receiptRow}
  from given g left join (select boundary, marked from ${s}.retention where one = 1 limit 1) r on true
  where r.marked is not true and (g.event_at < r.boundary) is not true order by n
  on conflict (event_id, delivery) where conflicts_with is null do nothing returning seq
),
sealed as (
  insert into ${s}.vault (receipt, key_id, nonce, ciphertext)
  select seq, key_id, ${sealedColumns}
  from given where ${among('seq', 'fresh')}
),
waiting as (
  insert into ${s}.outbox (receipt, producer, at, worker, lane)
  select seq, producer, ${nowSql('now')} + lease_ms, worker, (origin <> 'live')::int from given where ${among('seq', 'fresh')}
),
tallied as (
  insert into ${s}.tally (name, value) select 'receipts', count(*) from fresh having count(*) > 0
)
select n::int, seq::text from given where ${among('seq', 'fresh')}`,
  }
}

/** What one row of the statement says of one arrival. */
export function toFresh({ seq }: Row, { first: { receipt } }: Arrivals): Accepted {
  return { outcome: 'accepted', receipt: receipt.id, outbox: Number(seq), sameContentAs: null }
}
