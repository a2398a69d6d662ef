import type { DatabaseSync } from 'node:sqlite'
import type { QuarantineId, ReceiptId } from '../../domain/index.ts'
import type { DeliveryKnown, DeliveryQuestion } from '../backfills.ts'
import type { Beyond } from '../beyond.ts'
import { deliveryToBytes, fingerprintFromBytes, fingerprintToBytes } from '../digest.ts'
import type { QuarantineReason, QuarantineState, ReceiptState } from '../records.ts'
import type { Accepted, NewQuarantine } from '../store.ts'
import type { Counts } from './counts.ts'
import type { Known as KnownMarker, Markers } from './markers.ts'
import { bytesOf, type PackedAcceptance } from './packing.ts'
import type { Quarantine } from './quarantine.ts'

type Bytes = ReturnType<typeof bytesOf>

interface Known {
  readonly seq: number
  readonly id: ReceiptId
  readonly fingerprint: Uint8Array
  readonly quarantine: QuarantineId | null
  readonly reason: QuarantineReason | null
  readonly state: QuarantineState | null
}

/** Design decision 1. A new delivery costs one probe of one index and three rows at the end of their tables. */
export class Accept {
  readonly #counts: Counts
  readonly #quarantine: Quarantine
  readonly #markers: Markers
  readonly #insert
  readonly #seal
  readonly #outbox
  readonly #known
  readonly #conflicting
  readonly #sameContent
  readonly #duplicate

  constructor(db: DatabaseSync, quarantine: Quarantine, markers: Markers, counts: Counts) {
    this.#counts = counts
    this.#quarantine = quarantine
    this.#markers = markers
    // counterfoil_receipt_first decides: no row is written when the identity is known.
    this.#insert = db.prepare(`
      insert into counterfoil_receipt (id, producer, namespace, source, event_id, type, schema_version, content_type, bytes,
        signed, origin, event_at, received_at, delivery, fingerprint, raw_fingerprint, state, conflicts_with, same_content_as, waived, trace)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      on conflict (event_id, delivery) where conflicts_with is null do nothing`)
    this.#seal = db.prepare(
      'insert into counterfoil_vault (receipt, key_id, nonce, ciphertext) values (?, ?, ?, ?)',
    )
    this.#outbox = db.prepare(
      'insert into counterfoil_outbox (receipt, at, worker, lane) values (?, ?, ?, ?)',
    )
    // counterfoil_receipt_first, then the unique index of counterfoil_quarantine.receipt
    this.#known = db.prepare(`
      select r.seq, r.id, r.fingerprint, q.id as quarantine, q.reason, q.state
      from counterfoil_receipt r left join counterfoil_quarantine q on q.receipt = r.seq
      where r.event_id = ? and r.delivery = ? and r.conflicts_with is null`)
    // counterfoil_receipt_conflict
    this.#conflicting = db.prepare(`
      select r.seq, r.id, q.id as quarantine
      from counterfoil_receipt r join counterfoil_quarantine q on q.receipt = r.seq
      where r.delivery = ? and r.fingerprint = ? and r.conflicts_with is not null`)
    // counterfoil_receipt_content
    this.#sameContent = db.prepare(`
      select seq, id from counterfoil_receipt where producer = ? and fingerprint = ? and signed = 0 order by seq limit 1`)
    this.#duplicate = db.prepare(
      'update counterfoil_receipt set duplicates = duplicates + 1, last_duplicate_at = ? where seq = ?',
    )
  }

  accept(packed: PackedAcceptance, block: Uint8Array): Accepted | Beyond {
    const [id, producer, , , eventId, , , , , signed, origin, eventAt, receivedAt, , outboxAt, worker] =
      packed
    const bytes = bytesOf(packed, block)
    const same = signed === 0 ? this.#same(producer, bytes.fingerprint) : undefined
    const { boundary, marked } = this.#markers.state()
    const marker = marked === 0 ? undefined : this.#markers.ofReceipt(bytes.delivery, bytes.fingerprint)
    if (marker !== undefined) return this.#forgotten(packed, bytes, marker, same?.seq ?? null)
    let quarantine = packed[16]
    if (eventAt !== null && eventAt < boundary && this.#known.get(eventId, bytes.delivery) === undefined) {
      if (!packed[22]) return { outcome: 'beyond', boundary }
      quarantine = beyondEntry(packed, boundary, eventAt)
    }
    const state = quarantine === null ? 'accepted' : 'quarantined'
    const seq = this.#write(packed, bytes, state, null, same?.seq ?? null)
    if (seq === null) return this.#seenBefore(packed, bytes, same?.seq ?? null)
    const receipt = id as ReceiptId
    if (quarantine === null) {
      this.#outbox.run(seq, outboxAt, worker, origin === 'live' ? 0 : 1)
      return { outcome: 'accepted', receipt, outbox: seq, sameContentAs: same?.id ?? null }
    }
    this.#quarantine.enter(seq, receipt, quarantine, receivedAt)
    return {
      outcome: 'quarantined',
      receipt,
      quarantine: quarantine.id,
      reason: quarantine.reason,
      repeated: false,
    }
  }

  /** @returns null when the identity is known */
  #write(
    packed: PackedAcceptance,
    bytes: Bytes,
    state: ReceiptState,
    conflictsWith: number | null,
    sameContentAs: number | null,
  ): number | null {
    const { changes, lastInsertRowid } = this.#insert.run(
      packed[0],
      packed[1],
      packed[2],
      packed[3],
      packed[4],
      packed[5],
      packed[6],
      packed[7],
      packed[8],
      packed[9],
      packed[10],
      packed[11],
      packed[12],
      bytes.delivery,
      bytes.fingerprint,
      bytes.rawFingerprint,
      state,
      conflictsWith,
      sameContentAs,
      packed[23],
      packed[24],
    )
    if (changes === 0) return null
    const seq = lastInsertRowid as number
    this.#seal.run(seq, packed[13], bytes.nonce, bytes.ciphertext)
    this.#counts.add(state === 'accepted' ? 'receipts.accepted' : 'receipts.quarantined', 1)
    return seq
  }

  #seenBefore(packed: PackedAcceptance, bytes: Bytes, sameContentAs: number | null): Accepted {
    const [, , , , eventId, , , , , , , , receivedAt] = packed
    const first = this.#known.get(eventId, bytes.delivery) as unknown as Known
    if (Buffer.compare(first.fingerprint, bytes.fingerprint) === 0) {
      this.#count(first.seq, receivedAt)
      return first.quarantine !== null && first.reason !== null && isHeld(first)
        ? {
            outcome: 'quarantined',
            receipt: first.id,
            quarantine: first.quarantine,
            reason: first.reason,
            repeated: true,
          }
        : { outcome: 'duplicate', receipt: first.id }
    }
    return this.#conflict(packed, bytes, first, sameContentAs)
  }

  #conflict(
    packed: PackedAcceptance,
    bytes: Bytes,
    first: { readonly seq: number; readonly id: ReceiptId; readonly fingerprint: Uint8Array | null },
    sameContentAs: number | null,
  ): Accepted {
    const [id, , , , , , , , , , , , receivedAt] = packed
    const again = this.#conflicting.get(bytes.delivery, bytes.fingerprint) as
      | { seq: number; id: ReceiptId; quarantine: QuarantineId }
      | undefined
    if (again !== undefined) {
      this.#count(again.seq, receivedAt)
      const { id: receipt, quarantine } = again
      return { outcome: 'conflict', receipt, quarantine, first: first.id, repeated: true }
    }
    const seq = this.#write(packed, bytes, 'quarantined', first.seq, sameContentAs)
    if (seq === null) throw new Error('a conflicting receipt was not written')
    const receipt = id as ReceiptId
    const quarantine = packed[17] as QuarantineId
    const detail = {
      first: first.id,
      firstFingerprint: first.fingerprint === null ? null : fingerprintFromBytes(first.fingerprint),
      fingerprint: fingerprintFromBytes(bytes.fingerprint),
    }
    const entry = { id: quarantine, owner: packed[18], reason: 'identity-conflict' as const, detail }
    this.#quarantine.enter(seq, receipt, entry, receivedAt)
    return { outcome: 'conflict', receipt, quarantine, first: first.id, repeated: false }
  }

  /** What `accept` would say of this identity. */
  known({ eventId, delivery, fingerprint }: DeliveryQuestion): DeliveryKnown {
    const identity = deliveryToBytes(delivery)
    const content = fingerprintToBytes(fingerprint)
    const { marked } = this.#markers.state()
    const marker = marked === 0 ? undefined : this.#markers.ofReceipt(identity, content)
    const first = this.#known.get(eventId, identity) as unknown as Known | undefined
    if (marker === undefined && first === undefined) return 'new'
    const isCopy = marker?.agrees ?? Buffer.compare(first!.fingerprint, content) === 0
    return isCopy || this.#conflicting.get(identity, content) !== undefined ? 'duplicate' : 'conflicting'
  }

  /** Only its marker is left of the first receipt. */
  #forgotten(
    packed: PackedAcceptance,
    bytes: Bytes,
    marker: KnownMarker<ReceiptId>,
    sameContentAs: number | null,
  ): Accepted {
    if (!marker.agrees) return this.#conflict(packed, bytes, { ...marker, fingerprint: null }, sameContentAs)
    this.#counts.add('duplicates', 1)
    return { outcome: 'duplicate', receipt: marker.id }
  }

  #same(producer: string, fingerprint: Uint8Array): { seq: number; id: ReceiptId } | undefined {
    return this.#sameContent.get(producer, fingerprint) as { seq: number; id: ReceiptId } | undefined
  }

  #count(seq: number, at: number): void {
    this.#duplicate.run(at, seq)
    this.#counts.add('duplicates', 1)
  }
}

function beyondEntry(packed: PackedAcceptance, boundary: number, eventAt: number): NewQuarantine {
  const detail = { boundary: new Date(boundary).toISOString(), eventAt: new Date(eventAt).toISOString() }
  return { id: packed[17] as QuarantineId, owner: packed[18], reason: 'beyond-retention', detail }
}

/** It came into quarantine as it was received, and nobody released it since. */
function isHeld({ reason, state }: Known): boolean {
  return reason !== null && quarantinedAtIntake.has(reason) && state !== 'released'
}

/** A delivery of these kinds could never start work; the others could, and a copy of them is a plain duplicate. */
const quarantinedAtIntake: ReadonlySet<QuarantineReason> = new Set([
  'unsupported-type',
  'schema-failure',
  'not-representable',
  'beyond-retention',
])
