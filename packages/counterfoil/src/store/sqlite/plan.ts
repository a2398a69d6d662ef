import type { DatabaseSync } from 'node:sqlite'
import type { EffectId, Fingerprint } from '../../domain/index.ts'
import type { NewEffect, Plan, Planned } from '../store.ts'
import type { Counts } from './counts.ts'
import { fingerprintFromBytes, fingerprintToBytes } from './digest.ts'
import type { Outbox } from './outbox.ts'

type Conflict = Extract<Planned, { kind: 'conflict' }>

/** Design decision 2: the record consumed, effects created or found, in the transaction that is open. */
export class Planning {
  readonly #outbox: Outbox
  readonly #counts: Counts
  readonly #find
  readonly #insert
  readonly #request
  readonly #due
  readonly #cause
  readonly #planned

  constructor(db: DatabaseSync, outbox: Outbox, counts: Counts) {
    this.#outbox = outbox
    this.#counts = counts
    // counterfoil_effect_key
    this.#find = db.prepare(
      'select seq, id, fingerprint from counterfoil_effect where recipient = ? and key = ?',
    )
    this.#insert = db.prepare(`
      insert into counterfoil_effect (id, recipient, key, name, fingerprint, idempotency_key, order_domain, order_version, planned_at, state, changed_at)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, 'planned', ?)`)
    this.#request = db.prepare(
      'insert into counterfoil_request (effect, key_id, nonce, ciphertext) values (?, ?, ?, ?)',
    )
    this.#due = db.prepare('insert into counterfoil_due (effect, recipient, at) values (?, ?, ?)')
    this.#cause = db.prepare(
      'insert into counterfoil_cause (effect, receipt, trigger, at) values (?, ?, ?, ?) on conflict do nothing',
    )
    this.#planned = db.prepare(
      "update counterfoil_receipt set state = 'planned', planned_at = ?, planned_by = ? where seq = ?",
    )
  }

  /** What forbids this plan: a key planned before, or twice in the plan itself, with another payload. */
  conflict({ effects, onConflict }: Plan): Conflict | null {
    const own = new Map<string, Fingerprint>()
    for (const { recipient, key, fingerprint } of effects) {
      const name = `${recipient.length}:${recipient}${key}`
      const row = this.#find.get(recipient, key) as { fingerprint: Uint8Array } | undefined
      const existing =
        own.get(name) ?? (row === undefined ? undefined : fingerprintFromBytes(row.fingerprint))
      if (existing !== undefined && existing !== fingerprint) {
        return { kind: 'conflict', recipient, key, planned: fingerprint, existing, quarantine: onConflict.id }
      }
      own.set(name, fingerprint)
    }
    return null
  }

  /** Nothing of the plan but its failure. The caller has rolled back what the trigger wrote. */
  refuse(plan: Plan, { recipient, key, planned, existing }: Conflict): void {
    if (!this.#outbox.consume(plan.outbox, plan.receipt)) return
    const quarantine = {
      ...plan.onConflict,
      reason: 'effect-conflict' as const,
      detail: { recipient, key, planned, existing },
    }
    this.#outbox.giveUp(plan.outbox, quarantine, plan.at)
  }

  /** Writes a plan that has no conflict. */
  write({ outbox, receipt, at, plannedBy, effects }: Plan): Planned {
    if (!this.#outbox.consume(outbox, receipt)) return { kind: 'consumed' }
    this.#planned.run(at, plannedBy, outbox)
    this.#counts.add('receipts.accepted', -1)
    this.#counts.add('receipts.planned', 1)
    return { kind: 'planned', effects: effects.map((effect) => this.#effect(effect, outbox, at)) }
  }

  #effect(effect: NewEffect, receipt: number, at: number): { id: EffectId; created: boolean } {
    const known = this.#find.get(effect.recipient, effect.key) as { seq: number; id: EffectId } | undefined
    const seq = known?.seq ?? this.#create(effect)
    this.#cause.run(seq, receipt, effect.trigger, at)
    return { id: known?.id ?? effect.id, created: known === undefined }
  }

  #create(effect: NewEffect): number {
    const { id, recipient, key, name, fingerprint, idempotencyKey, order, plannedAt, request } = effect
    const written = this.#insert.run(
      id,
      recipient,
      key,
      name,
      fingerprintToBytes(fingerprint),
      idempotencyKey,
      order?.domain ?? null,
      order?.version ?? null,
      plannedAt,
      plannedAt,
    )
    const seq = Number(written.lastInsertRowid)
    this.#request.run(seq, request.keyId, request.nonce, request.ciphertext)
    this.#due.run(seq, recipient, plannedAt)
    this.#counts.add('effects.planned', 1)
    return seq
  }
}
