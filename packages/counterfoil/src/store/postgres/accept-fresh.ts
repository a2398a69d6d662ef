import { deliveryBytes, fingerprintBytes } from '../digest.ts'
import type { Accepted, SqlValue } from '../store.ts'
import { type Arrivals, digestsOf } from './accept.ts'
import { Block, numbers, type Rows, rowsOf, texts } from './columns.ts'
import type { Row } from './connection.ts'
import { among, quoted, type Statement } from './statement.ts'
import { nowSql, type Timekeeper } from './time.ts'

/**
 * Nearly every delivery is new, fit, and of an identity that is signed. For those a statement with four inserts and no
 * question does, at a third of the cost of the one that can answer them all.
 */
export function mayBeFresh({ first: { receipt, next }, copies }: Arrivals): boolean {
  return next.kind === 'plan' && receipt.provenance === 'signed' && copies.length === 0
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
  ['$10::bigint[]', 'event_at'],
  ['$11::bigint[]', 'received_at'],
  ['$13::int[]', 'at'],
  ['$14::int[]', 'nonce_bytes'],
  ['$15::int[]', 'ciphertext_bytes'],
  ['$16::text[]', 'key_id'],
  ['$17::bigint[]', 'lease_ms'],
  ['$18::text[]', 'worker'],
  ['$19::text[]', 'origin'],
  ['$20::text[]', 'waived'],
  ['$21::bigint[]', 'now'],
  ['$22::text[]', 'trace'],
]

/**
 * Design decision 1 for deliveries whose identity nobody has. What it leaves out was not new, or is old, or has to be
 * looked for among markers: nothing of it is written, and `acceptStatement` decides.
 */
export function acceptFreshStatement(schema: string, rows: Rows): Statement {
  const s = quoted(schema)
  const bytes = (from: string, length: string | number) => `substring($12::bytea from ${from} for ${length})`
  const sealedAt = `at + ${deliveryBytes + 2 * fingerprintBytes}`
  return {
    name: `counterfoil_accept_fresh_${rows}`,
    writes: true,
    text: `
with given as materialized (
  select g.*, nextval('${s}.receipt_seq') as seq
  from ${rowsOf(rows, 'g', columns, 'n')}
),
-- receipt_first decides.
fresh as (
  insert into ${s}.receipt (seq, id, delivery, producer, namespace, source, event_id, type, schema_version, fingerprint,
    raw_fingerprint, content_type, bytes, signed, origin, event_at, received_at, waived, trace)
  select seq, id, ${bytes('at', deliveryBytes)}, producer, namespace, source, event_id, type, schema_version,
    ${bytes(`at + ${deliveryBytes}`, fingerprintBytes)}, ${bytes(`at + ${deliveryBytes + fingerprintBytes}`, fingerprintBytes)},
    content_type, bytes, true, origin, event_at, received_at, waived, trace
  from given g left join (select boundary, marked from ${s}.retention where one = 1 limit 1) r on true
  where r.marked is not true and (g.event_at < r.boundary) is not true order by n
  on conflict (event_id, delivery) where conflicts_with is null do nothing returning seq
),
sealed as (
  insert into ${s}.vault (receipt, key_id, nonce, ciphertext)
  select seq, key_id, ${bytes(sealedAt, 'nonce_bytes')}, ${bytes(`${sealedAt} + nonce_bytes`, 'ciphertext_bytes')}
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

export function acceptFreshParameters(all: readonly Arrivals[], time: Timekeeper): SqlValue[] {
  const receipts = all.map(({ first }) => first.receipt)
  const payloads = all.map(({ first }) => first.payload)
  const handOffs = all.map(({ first: { next } }) => (next.kind === 'plan' ? next.handOff : null))
  const block = new Block()
  const at = receipts.map((receipt, index) => {
    const begins = block.add(digestsOf(receipt))
    block.add(payloads[index]!.nonce)
    block.add(payloads[index]!.ciphertext)
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
    numbers(receipts.map(({ eventAt }) => eventAt)),
    numbers(receipts.map(({ receivedAt }) => receivedAt)),
    block.toBytes(),
    numbers(at),
    numbers(payloads.map(({ nonce }) => nonce.length)),
    numbers(payloads.map(({ ciphertext }) => ciphertext.length)),
    texts(payloads.map(({ keyId }) => keyId)),
    numbers(handOffs.map((handOff) => handOff?.leaseMs ?? 0)),
    texts(handOffs.map((handOff) => handOff?.worker)),
    texts(receipts.map(({ origin }) => origin)),
    texts(receipts.map(({ waived }) => waived)),
    numbers(receipts.map(({ receivedAt }) => time.now(receivedAt))),
    texts(receipts.map(({ trace }) => trace)),
  ]
}

/** What one row of the statement says of one arrival. */
export function toFresh({ seq }: Row, { first: { receipt } }: Arrivals): Accepted {
  return { outcome: 'accepted', receipt: receipt.id, outbox: Number(seq), sameContentAs: null }
}
