import { assert, type ReceiptId } from '../../domain/index.ts'
import { BeyondRetention } from '../beyond.ts'
import { deliveryBytes, fingerprintBytes } from '../digest.ts'
import { type Marking, markerBytes } from '../marking.ts'
import type { QuarantineReason } from '../records.ts'
import type { Accepted, SqlValue } from '../store.ts'
import {
  arrivalColumns,
  arrivalParameters,
  blockBytes,
  digestColumns,
  receiptRow,
  sealedColumns,
} from './arrival-columns.ts'
import type { Arrivals } from './arrivals.ts'
import { booleans, numbers, type Rows, rowsOf, texts } from './columns.ts'
import type { Row } from './connection.ts'
import { among, fingerprintText, isoText, quoted, type Statement } from './statement.ts'
import { nowSql, type Timekeeper } from './time.ts'

const columns: readonly (readonly [string, string])[] = [
  ...arrivalColumns,
  ['$24::text[]', 'quarantine'],
  ['$25::text[]', 'reason'],
  ['$26::text[]', 'detail'],
  ['$27::text[]', 'owner'],
  ['$28::text[]', 'conflict'],
  ['$29::text[]', 'conflict_owner'],
  ['$30::int[]', 'copies'],
  ['$31::bigint[]', 'last_copy_at'],
  ['$33::boolean[]', 'holds_beyond'],
]

/** Design decision 1 for many deliveries: one statement, one round trip, one commit. */
export function acceptStatement(schema: string, rows: Rows): Statement {
  const s = quoted(schema)
  const markerAt = `g.at + ${deliveryBytes + 2 * fingerprintBytes} + g.nonce_bytes + g.ciphertext_bytes`
  const amongSeq = (cte: string) => among('seq', cte)
  return {
    name: `counterfoil_accept_${rows}`,
    writes: true,
    text: `
with given as materialized (
  select g.*, nextval('${s}.receipt_seq') as seq, ${digestColumns},
    case when $32::boolean then ${blockBytes(markerAt, markerBytes)} end as marker,
    case when $32::boolean then ${blockBytes(`${markerAt} + ${markerBytes}`, markerBytes)} end as marker_content,
    g.event_at < (select boundary from ${s}.retention where one = 1) as is_old,
    not $32::boolean and (select marked from ${s}.retention where one = 1) is true as is_unmarked
  from ${rowsOf(rows, 'g', columns, 'n')}
),
-- receipt_first, receipt_conflict, receipt_content, a marker's digest: one probe each, as the snapshot has them.
looked as materialized (
  select g.*, coalesce(f.seq, m.seq) as first_seq, f.seq as first_row, coalesce(f.id, m.id) as first_id,
    f.fingerprint as first_fingerprint, coalesce(f.fingerprint = g.fingerprint, m.content = g.marker_content) as is_same,
    f.seq is null and m.seq is null and g.is_unmarked as unmarked,
    f.seq is null and m.seq is null and not g.is_unmarked and coalesce(g.is_old, false) as beyond, f.quarantine as first_quarantine, f.reason as first_reason,
    a.seq as again_seq, a.id as again_id, a.quarantine as again_quarantine, c.id as same_content
  from given g
  left join lateral (
    select r.seq, r.id, r.fingerprint, q.id as quarantine, q.reason from ${s}.receipt r
    left join lateral (select id, reason from ${s}.quarantine where receipt = r.seq and state <> 'released' limit 1) q on true
    where r.event_id = g.event_id and r.delivery = g.delivery and r.conflicts_with is null limit 1) f on true
  left join lateral (
    select x.seq, x.id, x.content from ${s}.receipt_marker x where $32::boolean and x.digest = g.marker limit 1) m on true
  left join lateral (
    select r.seq, r.id, q.id as quarantine from ${s}.receipt r
    left join lateral (select id from ${s}.quarantine where receipt = r.seq limit 1) q on true
    where (f.fingerprint <> g.fingerprint or m.content <> g.marker_content) and r.delivery = g.delivery and r.fingerprint = g.fingerprint
      and r.conflicts_with is not null limit 1) a on true
  left join lateral (
    select r.id from ${s}.receipt r where not g.signed and not r.signed
      and r.fingerprint = g.fingerprint and r.producer = g.producer order by r.seq limit 1) c on true
),
-- receipt_first decides: no row is written when the identity was committed meanwhile.
fresh as (
  insert into ${s}.receipt (${receiptRow})
  select ${receiptRow}
  from looked where first_seq is null and not unmarked and (holds_beyond or not beyond) order by n
  on conflict (event_id, delivery) where conflicts_with is null do nothing returning seq
),
disagreeing as (
  insert into ${s}.receipt (${receiptRow}, conflicts_with)
  select ${receiptRow}, first_seq
  from looked where not is_same and again_seq is null order by n
  on conflict (delivery, fingerprint) where conflicts_with is not null do nothing returning seq
),
sealed as (
  insert into ${s}.vault (receipt, key_id, nonce, ciphertext)
  select seq, key_id, ${sealedColumns}
  from looked where ${amongSeq('fresh union all select seq from disagreeing')}
),
waiting as (
  insert into ${s}.outbox (receipt, producer, at, worker, lane)
  select seq, producer, ${nowSql('now')} + lease_ms, worker, (origin <> 'live')::int from looked where quarantine is null and not beyond and ${amongSeq('fresh')}
),
held as materialized (
  select seq, id, producer, type, event_id, quarantine, reason, detail, owner, received_at, ${nowSql('now')} as at
  from looked where quarantine is not null and not beyond and ${amongSeq('fresh')}
  union all
  select seq, id, producer, type, event_id, conflict, 'beyond-retention', json_build_object(
    'boundary', ${isoText(`(select boundary from ${s}.retention where one = 1)`)}, 'eventAt', ${isoText('event_at')})::text,
    conflict_owner, received_at, ${nowSql('now')}
  from looked where beyond and ${amongSeq('fresh')}
  union all
  select seq, id, producer, type, event_id, conflict, 'identity-conflict', json_build_object('first', first_id, 'firstFingerprint',
    ${fingerprintText('first_fingerprint')}, 'fingerprint', ${fingerprintText('fingerprint')})::text,
    conflict_owner, received_at, ${nowSql('now')}
  from looked where ${amongSeq('disagreeing')}
),
entered as (
  insert into ${s}.quarantine (id, receipt, reason, detail, owner, at, attended_at, producer, type, event_id)
  select quarantine, seq, reason, detail, owner, received_at, received_at, producer, type, event_id from held
),
alerted as (
  insert into ${s}.alert (at, raised_at, reason, owner, receipt, quarantine)
  select at, received_at, reason, owner, id, quarantine from held
),
repeated as materialized (
  select coalesce(again_seq, first_row) as seq, copies + 1 as count, coalesce(last_copy_at, received_at) as at
  from looked where (is_same or again_seq is not null) and coalesce(again_seq, first_row) is not null
  union all
  select seq, copies, last_copy_at from looked
  where copies > 0 and ${amongSeq('fresh union all select seq from disagreeing')}
),
counted as (
  insert into ${s}.duplicate as d (receipt, count, last_at) select seq, count, at from repeated order by seq
  on conflict (receipt) do update set count = d.count + excluded.count, last_at = greatest(d.last_at, excluded.last_at)
),
tallied as (
  insert into ${s}.tally (name, value) select name, value from (
    select 'receipts' as name, (select count(*) from fresh) + (select count(*) from disagreeing) as value
    union all select 'duplicates', (select coalesce(sum(count), 0)::bigint from repeated)
      + (select coalesce(sum(copies + 1), 0)::bigint from looked where is_same and first_row is null)) t where value > 0
)
select n::int, seq::text, first_id, first_quarantine, first_reason, again_id, again_quarantine, same_content,
  beyond, (select boundary::float8 from ${s}.retention where one = 1) as boundary,
  case when first_seq is null then case when ${amongSeq('fresh')} then 'new' when unmarked then 'unmarked'
      when beyond and not holds_beyond then 'beyond' else 'undecided' end
    when is_same then 'known'
    when again_seq is not null then 'again'
    when ${amongSeq('disagreeing')} then 'conflict' else 'undecided' end as verdict
from looked order by n`,
  }
}

/** @param marking null while there are no markers */
export function acceptParameters(
  all: readonly Arrivals[],
  time: Timekeeper,
  marking: Marking | null,
): SqlValue[] {
  const held = all.map(({ first: { next } }) => (next.kind === 'quarantine' ? next.quarantine : null))
  return [
    ...arrivalParameters(all, time, marking),
    texts(held.map((entry) => entry?.id)),
    texts(held.map((entry) => entry?.reason)),
    texts(held.map((entry) => entry && JSON.stringify(entry.detail))),
    texts(held.map((entry) => entry?.owner)),
    texts(all.map(({ first }) => first.onConflict.id)),
    texts(all.map(({ first }) => first.onConflict.owner)),
    numbers(all.map(({ copies }) => copies.length)),
    numbers(all.map(({ copies }) => copies.at(-1)?.receipt.receivedAt)),
    String(marking !== null),
    booleans(all.map(({ first }) => first.beyond === 'quarantined')),
  ]
}

/**
 * What one row of the statement says of one arrival. Undefined: another transaction decides it, or it has to be
 * looked for among the markers: look again.
 */
export function toAccepted(
  row: Row,
  { first: { receipt, next, onConflict } }: Arrivals,
): Accepted | BeyondRetention | undefined {
  const first = row.first_id as ReceiptId
  switch (row.verdict) {
    case 'undecided':
    case 'unmarked':
      return undefined
    case 'beyond':
      return new BeyondRetention(row.boundary)
    case 'known':
      return row.first_quarantine !== null && quarantinedAtIntake.has(row.first_reason)
        ? {
            outcome: 'quarantined',
            receipt: first,
            quarantine: row.first_quarantine,
            reason: row.first_reason,
            repeated: true,
          }
        : { outcome: 'duplicate', receipt: first }
    case 'again':
      return {
        outcome: 'conflict',
        receipt: row.again_id,
        quarantine: row.again_quarantine,
        first,
        repeated: true,
      }
    case 'conflict':
      return { outcome: 'conflict', receipt: receipt.id, quarantine: onConflict.id, first, repeated: false }
  }
  assert(row.verdict === 'new', `a verdict of accept: ${row.verdict}`)
  if (row.beyond === true) {
    return {
      outcome: 'quarantined',
      receipt: receipt.id,
      quarantine: onConflict.id,
      reason: 'beyond-retention',
      repeated: false,
    }
  }
  if (next.kind === 'quarantine') {
    const { id, reason } = next.quarantine
    return { outcome: 'quarantined', receipt: receipt.id, quarantine: id, reason, repeated: false }
  }
  return {
    outcome: 'accepted',
    receipt: receipt.id,
    outbox: Number(row.seq),
    sameContentAs: row.same_content,
  }
}

/** The answers of arrivals as those of their entries: the first of each is told its own, its copies that they repeat it. */
export function spread<Answer extends Accepted | Error>(
  answers: readonly Answer[],
  of: readonly number[],
): (Answer | Accepted)[] {
  const told = new Set<number>()
  return of.map((place) => {
    const answer = answers[place]!
    const first = !told.has(place)
    told.add(place)
    return first || answer instanceof Error ? answer : repeated(answer)
  })
}

function repeated(accepted: Accepted): Accepted {
  switch (accepted.outcome) {
    case 'accepted':
      return { outcome: 'duplicate', receipt: accepted.receipt }
    case 'duplicate':
      return accepted
    case 'quarantined':
    case 'conflict':
      return { ...accepted, repeated: true }
  }
}

/** Deliveries of these kinds could never start work; of the others a copy is a plain duplicate. */
const quarantinedAtIntake: ReadonlySet<QuarantineReason> = new Set([
  'unsupported-type',
  'schema-failure',
  'not-representable',
  'beyond-retention',
])
