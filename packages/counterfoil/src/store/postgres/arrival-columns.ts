import { deliveryBytes, fingerprintBytes, writeDelivery, writeFingerprint } from '../digest.ts'
import type { Marking } from '../marking.ts'
import type { ReceiptRecord } from '../records.ts'
import type { SqlValue } from '../store.ts'
import type { Arrivals } from './arrivals.ts'
import { Block, booleans, numbers, texts } from './columns.ts'
import type { Timekeeper } from './time.ts'

/** What both statements that accept are given of each arrival; their own parameters come after `arrivalParameters`. */
export const arrivalColumns: readonly (readonly [string, string])[] = [
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
  ['$21::bigint[]', 'now'],
  ['$22::text[]', 'waived'],
  ['$23::text[]', 'trace'],
]

/** A receipt's row, by the names that `given` and the table have in common. */
export const receiptRow =
  'seq, id, delivery, producer, namespace, source, event_id, type, schema_version, fingerprint, raw_fingerprint, ' +
  'content_type, bytes, signed, origin, event_at, received_at, waived, trace'

/** So many bytes of the block of all arrivals, from there. */
export function blockBytes(from: string, length: string | number): string {
  return `substring($15::bytea from ${from} for ${length})`
}

/** The digests of one arrival, which its place in the block begins with. */
export const digestColumns = `${blockBytes('g.at', deliveryBytes)} as delivery,
    ${blockBytes(`g.at + ${deliveryBytes}`, fingerprintBytes)} as fingerprint,
    ${blockBytes(`g.at + ${deliveryBytes + fingerprintBytes}`, fingerprintBytes)} as raw_fingerprint`

const sealedAt = `at + ${deliveryBytes + 2 * fingerprintBytes}`

/** Nonce and ciphertext come after them. */
export const sealedColumns = `${blockBytes(sealedAt, 'nonce_bytes')}, ${blockBytes(`${sealedAt} + nonce_bytes`, 'ciphertext_bytes')}`

/** @param marking null while there are no markers */
export function arrivalParameters(
  all: readonly Arrivals[],
  time: Timekeeper,
  marking: Marking | null,
): SqlValue[] {
  const receipts = all.map(({ first }) => first.receipt)
  const payloads = all.map(({ first }) => first.payload)
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
    texts(payloads.map(({ keyId }) => keyId)),
    block.toBytes(),
    numbers(at),
    numbers(payloads.map(({ nonce }) => nonce.length)),
    numbers(payloads.map(({ ciphertext }) => ciphertext.length)),
    numbers(handOffs.map((handOff) => handOff?.leaseMs ?? 0)),
    texts(handOffs.map((handOff) => handOff?.worker)),
    numbers(receipts.map(({ receivedAt }) => time.now(receivedAt))),
    texts(receipts.map(({ waived }) => waived)),
    texts(receipts.map(({ trace }) => trace)),
  ]
}

function digestsOf(receipt: ReceiptRecord): Buffer {
  const digests = Buffer.allocUnsafe(deliveryBytes + 2 * fingerprintBytes)
  writeDelivery(receipt.delivery, digests, 0)
  writeFingerprint(receipt.fingerprint, digests, deliveryBytes)
  writeFingerprint(receipt.rawFingerprint, digests, deliveryBytes + fingerprintBytes)
  return digests
}
