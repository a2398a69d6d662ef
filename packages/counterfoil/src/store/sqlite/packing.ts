import { deliveryBytes, fingerprintBytes, writeDelivery, writeFingerprint } from '../digest.ts'
import type { Acceptance, ChunkAcceptance, NewQuarantine } from '../store.ts'

/**
 * How an acceptance crosses the thread: plain fields in a row, and all bytes of a batch in one block that is
 * moved, not copied. It costs a third of cloning the object.
 */
export type PackedAcceptance = readonly [
  id: string,
  producer: string,
  namespace: string,
  source: string,
  eventId: string,
  type: string,
  schemaVersion: string | null,
  contentType: string,
  bytes: number,
  signed: 0 | 1,
  origin: string,
  eventAt: number | null,
  receivedAt: number,
  keyId: string,
  /** When and for whom the outbox record is due; null when it goes to quarantine. */
  outboxAt: number | null,
  worker: string | null,
  quarantine: NewQuarantine | null,
  conflict: string,
  conflictOwner: string,
  /** Where its bytes begin in the block: delivery, fingerprint, raw fingerprint, nonce, ciphertext. */
  at: number,
  nonceBytes: number,
  ciphertextBytes: number,
  /** Older than the boundary and not known, it goes to quarantine. */
  quarantinesBeyond: boolean,
  waived: string | null,
  trace: string | null,
]

const digestBytes = deliveryBytes + 2 * fingerprintBytes

/** Bytes that this acceptance takes in the block. */
export function packedBytes({ payload }: Acceptance): number {
  return digestBytes + payload.nonce.length + payload.ciphertext.length
}

/** @throws CounterfoilError `internal` when a digest is not one */
export function pack(
  { receipt, payload, next, onConflict, beyond }: Acceptance,
  block: Buffer,
  at: number,
): PackedAcceptance {
  const { nonce, ciphertext } = payload
  writeDelivery(receipt.delivery, block, at)
  writeFingerprint(receipt.fingerprint, block, at + deliveryBytes)
  writeFingerprint(receipt.rawFingerprint, block, at + deliveryBytes + fingerprintBytes)
  block.set(nonce, at + digestBytes)
  block.set(ciphertext, at + digestBytes + nonce.length)
  const handOff = next.kind === 'plan' ? next.handOff : null
  return [
    receipt.id,
    receipt.producer,
    receipt.namespace,
    receipt.source,
    receipt.eventId,
    receipt.type,
    receipt.schemaVersion,
    receipt.contentType,
    receipt.bytes,
    receipt.provenance === 'signed' ? 1 : 0,
    receipt.origin,
    receipt.eventAt,
    receipt.receivedAt,
    payload.keyId,
    next.kind === 'plan' ? receipt.receivedAt + (handOff?.leaseMs ?? 0) : null,
    handOff?.worker ?? null,
    next.kind === 'quarantine' ? next.quarantine : null,
    onConflict.id,
    onConflict.owner,
    at,
    nonce.length,
    ciphertext.length,
    beyond === 'quarantined',
    receipt.waived,
    receipt.trace,
  ]
}

export function packedBytesOfAll(entries: readonly Acceptance[]): number {
  return entries.reduce((sum, entry) => sum + packedBytes(entry), 0)
}

/** One behind the other. @throws as `pack` */
export function packAll(entries: readonly Acceptance[], block: Buffer, at: number): PackedAcceptance[] {
  let next = at
  return entries.map((entry) => {
    const packed = pack(entry, block, next)
    next += packedBytes(entry)
    return packed
  })
}

/** As it crosses the thread. */
export type PackedChunk = Omit<ChunkAcceptance, 'entries'> & { readonly entries: readonly PackedAcceptance[] }

/** @throws as `pack` */
export function packChunk(chunk: ChunkAcceptance, block: Buffer, at: number): PackedChunk {
  return { ...chunk, entries: packAll(chunk.entries, block, at) }
}

/** The bytes of one acceptance, as views of the block. */
export function bytesOf(packed: PackedAcceptance, block: Uint8Array) {
  const at = packed[19]
  const nonceAt = at + digestBytes
  const ciphertextAt = nonceAt + packed[20]
  return {
    delivery: block.subarray(at, at + deliveryBytes),
    fingerprint: block.subarray(at + deliveryBytes, at + deliveryBytes + fingerprintBytes),
    rawFingerprint: block.subarray(at + deliveryBytes + fingerprintBytes, nonceAt),
    nonce: block.subarray(nonceAt, ciphertextAt),
    ciphertext: block.subarray(ciphertextAt, ciphertextAt + packed[21]),
  }
}
