import type { DatabaseSync } from 'node:sqlite'
import type { QuarantineId, ReceiptId } from '../../domain/index.ts'
import type { QuarantineReason, ReceiptState } from '../records.ts'
import type { Acceptance, Accepted, NewQuarantine } from '../store.ts'
import type { Counts } from './counts.ts'
import { deliveryToBytes, fingerprintFromBytes, fingerprintToBytes } from './digest.ts'

interface Known {
  readonly seq: number
  readonly id: ReceiptId
  readonly fingerprint: Uint8Array
  readonly state: ReceiptState
  readonly quarantine: QuarantineId | null
  readonly reason: QuarantineReason | null
}

/** Design decision 1. A new delivery costs one probe of one random index and three appends. */
export class Accept {
  readonly #counts: Counts
  readonly #insert
  readonly #seal
  readonly #outbox
  readonly #known
  readonly #conflicting
  readonly #sameContent
  readonly #duplicate
  readonly #quarantine
  readonly #alert

  constructor(db: DatabaseSync, counts: Counts) {
    this.#counts = counts
    // counterfoil_receipt_first decides: no row is written when the identity is known.
    this.#insert = db.prepare(`
      insert into counterfoil_receipt (id, delivery, producer, namespace, source, event_id, type, schema_version, fingerprint,
        raw_fingerprint, content_type, bytes, signed, origin, event_at, received_at, state, conflicts_with, same_content_as)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      on conflict (delivery) where conflicts_with is null do nothing`)
    this.#seal = db.prepare(
      'insert into counterfoil_vault (receipt, key_id, nonce, ciphertext) values (?, ?, ?, ?)',
    )
    this.#outbox = db.prepare('insert into counterfoil_outbox (receipt, at, worker) values (?, ?, ?)')
    this.#known = db.prepare(`
      select r.seq, r.id, r.fingerprint, r.state, q.id as quarantine, q.reason
      from counterfoil_receipt r left join counterfoil_quarantine q on q.receipt = r.seq
      where r.delivery = ? and r.conflicts_with is null`)
    // counterfoil_receipt_conflict
    this.#conflicting = db.prepare(`
      select r.seq, r.id, q.id as quarantine
      from counterfoil_receipt r join counterfoil_quarantine q on q.receipt = r.seq
      where r.delivery = ? and r.fingerprint = ? and r.conflicts_with is not null`)
    // counterfoil_receipt_content
    this.#sameContent = db.prepare(`
      select seq, id from counterfoil_receipt where fingerprint = ? and signed = 0 and producer = ? order by seq limit 1`)
    this.#duplicate = db.prepare(
      'update counterfoil_receipt set duplicates = duplicates + 1, last_duplicate_at = ? where seq = ?',
    )
    this.#quarantine = db.prepare(
      'insert into counterfoil_quarantine (id, receipt, reason, detail, owner, at) values (?, ?, ?, ?, ?, ?)',
    )
    this.#alert = db.prepare(
      'insert into counterfoil_alert (at, raised_at, reason, owner, receipt, quarantine) values (?, ?, ?, ?, ?, ?)',
    )
  }

  accept(entry: Acceptance): Accepted {
    const { receipt, next } = entry
    const fingerprint = fingerprintToBytes(receipt.fingerprint)
    const delivery = deliveryToBytes(receipt.delivery)
    const same = receipt.provenance === 'unsigned' ? this.#same(fingerprint, receipt.producer) : undefined
    const state = next.kind === 'plan' ? 'accepted' : 'quarantined'
    const seq = this.#write(entry, delivery, fingerprint, state, null, same?.seq ?? null)
    if (seq === null) return this.#seenBefore(entry, delivery, fingerprint)
    this.#counts.add(`receipts.${state}`, 1)
    if (next.kind === 'plan') {
      const { handOff } = next
      this.#outbox.run(seq, receipt.receivedAt + (handOff?.leaseMs ?? 0), handOff?.worker ?? null)
      return { outcome: 'accepted', receipt: receipt.id, outbox: seq, sameContentAs: same?.id ?? null }
    }
    this.quarantine(seq, next.quarantine, receipt.receivedAt)
    const { id, reason } = next.quarantine
    return { outcome: 'quarantined', receipt: receipt.id, quarantine: id, reason, repeated: false }
  }

  /** Quarantine entry and alert, for a receipt that exists. */
  quarantine(receipt: number, { id, reason, detail, owner }: NewQuarantine, at: number): void {
    this.#quarantine.run(id, receipt, reason, JSON.stringify(detail), owner, at)
    this.#alert.run(at, at, reason, owner, receipt, id)
    this.#counts.add('quarantine', 1)
    this.#counts.add('alerts', 1)
  }

  #write(
    { receipt, payload }: Acceptance,
    delivery: Uint8Array,
    fingerprint: Uint8Array,
    state: ReceiptState,
    conflictsWith: number | null,
    sameContentAs: number | null,
  ): number | null {
    const written = this.#insert.run(
      receipt.id,
      delivery,
      receipt.producer,
      receipt.namespace,
      receipt.source,
      receipt.eventId,
      receipt.type,
      receipt.schemaVersion,
      fingerprint,
      fingerprintToBytes(receipt.rawFingerprint),
      receipt.contentType,
      receipt.bytes,
      receipt.provenance === 'signed' ? 1 : 0,
      receipt.origin,
      receipt.eventAt,
      receipt.receivedAt,
      state,
      conflictsWith,
      sameContentAs,
    )
    if (written.changes === 0) return null
    const seq = Number(written.lastInsertRowid)
    this.#seal.run(seq, payload.keyId, payload.nonce, payload.ciphertext)
    return seq
  }

  #seenBefore(entry: Acceptance, delivery: Uint8Array, fingerprint: Uint8Array): Accepted {
    const { receipt, onConflict } = entry
    const first = this.#known.get(delivery) as unknown as Known
    if (Buffer.compare(first.fingerprint, fingerprint) === 0) {
      this.#count(first.seq, receipt.receivedAt)
      return first.quarantine !== null && first.reason !== null && quarantinedAtIntake.has(first.reason)
        ? {
            outcome: 'quarantined',
            receipt: first.id,
            quarantine: first.quarantine,
            reason: first.reason,
            repeated: true,
          }
        : { outcome: 'duplicate', receipt: first.id }
    }
    const again = this.#conflicting.get(delivery, fingerprint) as unknown as
      | (Known & { quarantine: QuarantineId })
      | undefined
    if (again !== undefined) {
      this.#count(again.seq, receipt.receivedAt)
      return {
        outcome: 'conflict',
        receipt: again.id,
        quarantine: again.quarantine,
        first: first.id,
        repeated: true,
      }
    }
    const seq = this.#write(entry, delivery, fingerprint, 'quarantined', first.seq, null)
    if (seq === null) throw new Error('a conflicting receipt was not written')
    const detail = {
      first: first.id,
      firstFingerprint: fingerprintFromBytes(first.fingerprint),
      fingerprint: receipt.fingerprint,
    }
    this.#counts.add('receipts.quarantined', 1)
    this.quarantine(seq, { ...onConflict, reason: 'identity-conflict', detail }, receipt.receivedAt)
    return {
      outcome: 'conflict',
      receipt: receipt.id,
      quarantine: onConflict.id,
      first: first.id,
      repeated: false,
    }
  }

  #same(fingerprint: Uint8Array, producer: string): { seq: number; id: ReceiptId } | undefined {
    return this.#sameContent.get(fingerprint, producer) as { seq: number; id: ReceiptId } | undefined
  }

  #count(seq: number, at: number): void {
    this.#duplicate.run(at, seq)
    this.#counts.add('duplicates', 1)
  }
}

/** A delivery of these kinds could never start work; the others could, and a copy of them is a plain duplicate. */
const quarantinedAtIntake: ReadonlySet<QuarantineReason> = new Set([
  'unsupported-type',
  'schema-failure',
  'not-representable',
])
