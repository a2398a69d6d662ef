import { assert, type ReceiptId } from '../../domain/index.ts'
import { BeyondRetention } from '../beyond.ts'
import { deliveryBytes, fingerprintBytes, writeDelivery, writeFingerprint } from '../digest.ts'
import { type Marking, markerBytes } from '../marking.ts'
import type { QuarantineReason, ReceiptRecord } from '../records.ts'
import type { Acceptance, Accepted, SqlValue } from '../store.ts'
import { Block, booleans, numbers, type Rows, rowsOf, texts } from './columns.ts'
import type { Row } from './connection.ts'
import { among, fingerprintText, isoText, quoted, type Statement } from './statement.ts'
import { nowSql, type Timekeeper } from './time.ts'

/** Copies of one delivery that came together: the first speaks for all. */
export interface Arrivals {
  readonly first: Acceptance
  readonly copies: readonly Acceptance[]
}

/** Those that have the same identity and the same content, in the order of the first of each. */
export function arrivals(entries: readonly Acceptance[]): { arrivals: Arrivals[]; of: number[] } {
  const found: { first: Acceptance; copies: Acceptance[] }[] = []
  const places = new Map<string, number>()
  const of = entries.map((entry) => {
    const name = `${entry.receipt.delivery} ${entry.receipt.fingerprint}`
    const place = places.get(name)
    if (place !== undefined) {
      found[place]!.copies.push(entry)
      return place
    }
    places.set(name, found.length)
    return found.push({ first: entry, copies: [] }) - 1
  })
  return { arrivals: found, of }
}

/** Two with one of these in common cannot be decided in one statement: the second has to see the first's row. */
export function namesOf({ first: { receipt } }: Arrivals): string[] {
  const content = receipt.provenance === 'unsigned' ? [`${receipt.fingerprint} ${receipt.producer}`] : []
  return [receipt.delivery, receipt.id, ...content]
}

const columns: readonly (readonly [string, string])[] = [
  ['$1::text[]', 'id'],
  ['$2::text[]', 'producer'],
  ['$3::text[]', 'namespace'],
  ['$4::text[]', 'source'],
  ['$5::text[]', 'event_id'],
  ['$6::text[]', 'type'],
  ['$7::text[]', 'schema_version'],
  ['$8::text[]', 'content_type'],
  ['$9::bigint[]', 'bytes'],
  ['$10::boolean[]', 'signed'],
  ['$11::text[]', 'origin'],
  ['$12::bigint[]', 'event_at'],
  ['$13::bigint[]', 'received_at'],
  ['$14::text[]', 'key_id'],
  ['$16::int[]', 'at'],
  ['$17::int[]', 'nonce_bytes'],
  ['$18::int[]', 'ciphertext_bytes'],
  ['$19::bigint[]', 'lease_ms'],
  ['$20::text[]', 'worker'],
  ['$21::text[]', 'quarantine'],
  ['$22::text[]', 'reason'],
  ['$23::text[]', 'detail'],
  ['$24::text[]', 'owner'],
  ['$25::text[]', 'conflict'],
  ['$26::text[]', 'conflict_owner'],
  ['$27::int[]', 'copies'],
  ['$28::bigint[]', 'last_copy_at'],
  ['$29::bigint[]', 'now'],
  ['$31::boolean[]', 'holds_beyond'],
  ['$32::text[]', 'waived'],
  ['$33::text[]', 'trace'],
]

/** Design decision 1 for many deliveries: one statement, one round trip, one commit. */
export function acceptStatement(schema: string, rows: Rows): Statement {
  const s = quoted(schema)
  const bytes = (from: string, length: string | number) => `substring($15::bytea from ${from} for ${length})`
  const markerAt = `g.at + ${deliveryBytes + 2 * fingerprintBytes} + g.nonce_bytes + g.ciphertext_bytes`
  const amongSeq = (cte: string) => among('seq', cte)
  return {
    name: `counterfoil_accept_${rows}`,
    writes: true,
    text: `
with given as materialized (
  select g.*, nextval('${s}.receipt_seq') as seq, ${bytes('g.at', deliveryBytes)} as delivery,
    ${bytes(`g.at + ${deliveryBytes}`, fingerprintBytes)} as fingerprint,
    ${bytes(`g.at + ${deliveryBytes + fingerprintBytes}`, fingerprintBytes)} as raw_fingerprint,
    case when $30::boolean then ${bytes(markerAt, markerBytes)} end as marker,
    case when $30::boolean then ${bytes(`${markerAt} + ${markerBytes}`, markerBytes)} end as marker_content,
    g.event_at < (select boundary from ${s}.retention where one = 1) as is_old,
    not $30::boolean and (select marked from ${s}.retention where one = 1) is true as is_unmarked
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
    select x.seq, x.id, x.content from ${s}.receipt_marker x where $30::boolean and x.digest = g.marker limit 1) m on true
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
  insert into ${s}.receipt (seq, id, delivery, producer, namespace, source, event_id, type, schema_version, fingerprint,
    raw_fingerprint, content_type, bytes, signed, origin, event_at, received_at, waived, trace)
  select seq, id, delivery, producer, namespace, source, event_id, type, schema_version, fingerprint,
    raw_fingerprint, content_type, bytes, signed, origin, event_at, received_at, waived, trace
  from looked where first_seq is null and not unmarked and (holds_beyond or not beyond) order by n
  on conflict (event_id, delivery) where conflicts_with is null do nothing returning seq
),
disagreeing as (
  insert into ${s}.receipt (seq, id, delivery, producer, namespace, source, event_id, type, schema_version, fingerprint,
    raw_fingerprint, content_type, bytes, signed, origin, event_at, received_at, waived, trace, conflicts_with)
  select seq, id, delivery, producer, namespace, source, event_id, type, schema_version, fingerprint,
    raw_fingerprint, content_type, bytes, signed, origin, event_at, received_at, waived, trace, first_seq
  from looked where not is_same and again_seq is null order by n
  on conflict (delivery, fingerprint) where conflicts_with is not null do nothing returning seq
),
sealed as (
  insert into ${s}.vault (receipt, key_id, nonce, ciphertext)
  select seq, key_id, ${bytes(`at + ${deliveryBytes + 2 * fingerprintBytes}`, 'nonce_bytes')},
    ${bytes(`at + ${deliveryBytes + 2 * fingerprintBytes} + nonce_bytes`, 'ciphertext_bytes')}
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

/** The identity, the fingerprint and that of the raw bytes, one behind the other. */
export function digestsOf(receipt: ReceiptRecord): Buffer {
  const digests = Buffer.allocUnsafe(deliveryBytes + 2 * fingerprintBytes)
  writeDelivery(receipt.delivery, digests, 0)
  writeFingerprint(receipt.fingerprint, digests, deliveryBytes)
  writeFingerprint(receipt.rawFingerprint, digests, deliveryBytes + fingerprintBytes)
  return digests
}

/** @param marking null while there are no markers */
export function acceptParameters(
  all: readonly Arrivals[],
  time: Timekeeper,
  marking: Marking | null,
): SqlValue[] {
  const receipts = all.map(({ first }) => first.receipt)
  const held = all.map(({ first: { next } }) => (next.kind === 'quarantine' ? next.quarantine : null))
  const handOffs = all.map(({ first: { next } }) => (next.kind === 'plan' ? next.handOff : null))
  const block = new Block()
  const at = all.map(({ first: { receipt, payload } }) => {
    const digests = digestsOf(receipt)
    const begins = block.add(digests)
    block.add(payload.nonce)
    block.add(payload.ciphertext)
    if (marking !== null) {
      const delivery = digests.subarray(0, deliveryBytes)
      const fingerprint = digests.subarray(deliveryBytes, deliveryBytes + fingerprintBytes)
      const marker = marking.receipt(delivery, fingerprint)
      block.add(marker.digest)
      block.add(marker.content)
    }
    return begins
  })
  return [
    texts(receipts.map(({ id }) => id)),
    texts(receipts.map(({ producer }) => producer)),
    texts(receipts.map(({ namespace }) => namespace)),
    texts(receipts.map(({ source }) => source)),
    texts(receipts.map(({ eventId }) => eventId)),
    texts(receipts.map(({ type }) => type)),
    texts(receipts.map(({ schemaVersion }) => schemaVersion)),
    texts(receipts.map(({ contentType }) => contentType)),
    numbers(receipts.map(({ bytes }) => bytes)),
    booleans(receipts.map(({ provenance }) => provenance === 'signed')),
    texts(receipts.map(({ origin }) => origin)),
    numbers(receipts.map(({ eventAt }) => eventAt)),
    numbers(receipts.map(({ receivedAt }) => receivedAt)),
    texts(all.map(({ first }) => first.payload.keyId)),
    block.toBytes(),
    numbers(at),
    numbers(all.map(({ first }) => first.payload.nonce.length)),
    numbers(all.map(({ first }) => first.payload.ciphertext.length)),
    numbers(handOffs.map((handOff) => handOff?.leaseMs ?? 0)),
    texts(handOffs.map((handOff) => handOff?.worker)),
    texts(held.map((entry) => entry?.id)),
    texts(held.map((entry) => entry?.reason)),
    texts(held.map((entry) => entry && JSON.stringify(entry.detail))),
    texts(held.map((entry) => entry?.owner)),
    texts(all.map(({ first }) => first.onConflict.id)),
    texts(all.map(({ first }) => first.onConflict.owner)),
    numbers(all.map(({ copies }) => copies.length)),
    numbers(all.map(({ copies }) => copies.at(-1)?.receipt.receivedAt)),
    numbers(receipts.map(({ receivedAt }) => time.now(receivedAt))),
    String(marking !== null),
    booleans(all.map(({ first }) => first.beyond === 'quarantined')),
    texts(receipts.map(({ waived }) => waived)),
    texts(receipts.map(({ trace }) => trace)),
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
