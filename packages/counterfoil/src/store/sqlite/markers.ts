import type { DatabaseSync } from 'node:sqlite'
import type { EffectId, ReceiptId } from '../../domain/index.ts'
import { type Marker, type Marking, markerKeyMissing, sameContent } from '../marking.ts'
import type { Sealed } from '../records.ts'
import { toSealed } from './rows.ts'

/** What a marker tells of what it stands for. */
export interface Known<Id> {
  readonly seq: number
  readonly id: Id
  /** It had the same content. */
  readonly agrees: boolean
}

type Row<Id> = { readonly seq: number; readonly id: Id; readonly content: Uint8Array }

/** What is left of what was forgotten, and the boundary. While nothing ever was, looking costs one row. */
export class Markers {
  /** Given once the store's vault was opened. */
  marking: Marking | undefined
  readonly #location: string
  readonly #state
  readonly #receipt
  readonly #effect
  readonly #keepReceipt
  readonly #keepEffect
  readonly #mark
  readonly #close
  readonly #key
  readonly #keepKey

  constructor(db: DatabaseSync, marking: Marking | undefined) {
    this.marking = marking
    this.#location = db.location() ?? 'in memory'
    this.#state = db.prepare('select boundary, marked from counterfoil_retention where one = 1')
    // The unique indexes of digest.
    this.#receipt = db.prepare('select seq, id, content from counterfoil_receipt_marker where digest = ?')
    this.#effect = db.prepare('select seq, id, content from counterfoil_effect_marker where digest = ?')
    this.#keepReceipt = db.prepare(
      'insert into counterfoil_receipt_marker (seq, digest, content, id, event_at) values (?, ?, ?, ?, ?)',
    )
    this.#keepEffect = db.prepare(
      'insert into counterfoil_effect_marker (seq, digest, content, id, at) values (?, ?, ?, ?, ?)',
    )
    this.#mark = db.prepare(`
      insert into counterfoil_retention (one, marked) values (1, 1)
      on conflict (one) do update set marked = 1 where marked = 0`)
    this.#close = db.prepare(`
      insert into counterfoil_retention (one, boundary) values (1, ?)
      on conflict (one) do update set boundary = excluded.boundary where boundary < excluded.boundary`)
    this.#key = db.prepare(
      'select key_id, nonce, ciphertext, marked from counterfoil_retention where one = 1',
    )
    this.#keepKey = db.prepare(`
      insert into counterfoil_retention (one, key_id, nonce, ciphertext) values (1, ?, ?, ?)
      on conflict (one) do update set key_id = excluded.key_id, nonce = excluded.nonce, ciphertext = excluded.ciphertext
      where nonce is ?`)
  }

  state(): { readonly boundary: number; readonly marked: 0 | 1 } {
    return (
      (this.#state.get() as { boundary: number; marked: 0 | 1 } | undefined) ?? { boundary: 0, marked: 0 }
    )
  }

  ofReceipt(delivery: Uint8Array, fingerprint: Uint8Array): Known<ReceiptId> | undefined {
    const marker = this.required().receipt(delivery, fingerprint)
    return known(this.#receipt.get(marker.digest) as Row<ReceiptId> | undefined, marker)
  }

  /** Undefined too while nothing was ever forgotten. */
  ofEffect(recipient: string, key: string, fingerprint: Uint8Array): Known<EffectId> | undefined {
    if (this.state().marked === 0) return undefined
    const marker = this.required().effect(recipient, key, fingerprint)
    return known(this.#effect.get(marker.digest) as Row<EffectId> | undefined, marker)
  }

  keepReceipt(receipt: {
    seq: number
    id: string
    delivery: Uint8Array
    fingerprint: Uint8Array
    event_at: number | null
  }): void {
    const { digest, content } = this.required().receipt(receipt.delivery, receipt.fingerprint)
    this.#keepReceipt.run(receipt.seq, digest, content, receipt.id, receipt.event_at)
    this.#mark.run()
  }

  keepEffect(effect: {
    seq: number
    id: string
    recipient: string
    key: string
    fingerprint: Uint8Array
    changed_at: number
  }): void {
    const { digest, content } = this.required().effect(effect.recipient, effect.key, effect.fingerprint)
    this.#keepEffect.run(effect.seq, digest, content, effect.id, effect.changed_at)
    this.#mark.run()
  }

  /** What happened before is closed from now on. A boundary never goes back. */
  close(boundary: number): void {
    this.#close.run(boundary)
  }

  readKey(): { readonly key: Sealed | null; readonly marked: boolean } {
    const row = this.#key.get() as Record<string, any> | undefined
    const key = row === undefined || row.key_id === null ? null : toSealed(row)
    return { key, marked: row?.marked === 1 }
  }

  writeKey({ key, known: before }: { key: Sealed; known: Sealed | null }): void {
    this.#keepKey.run(key.keyId, key.nonce, key.ciphertext, before?.nonce ?? null)
  }

  /** @throws CounterfoilError `marker_key_missing` */
  required(): Marking {
    if (this.marking === undefined) throw markerKeyMissing(this.#location)
    return this.marking
  }
}

function known<Id>(row: Row<Id> | undefined, marker: Marker): Known<Id> | undefined {
  return row === undefined
    ? undefined
    : { seq: row.seq, id: row.id, agrees: sameContent(row.content, marker) }
}
