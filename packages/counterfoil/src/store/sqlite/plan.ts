import type { DatabaseSync } from 'node:sqlite'
import type { EffectId, Fingerprint } from '../../domain/index.ts'
import { attempting } from '../begun.ts'
import { fingerprintFromBytes, fingerprintToBytes } from '../digest.ts'
import type { AlertPlan, AlertPlanned, NewEffect, Plan, Planned } from '../store.ts'
import type { Counts } from './counts.ts'
import type { Markers } from './markers.ts'
import type { Outbox } from './outbox.ts'

interface KnownEffect {
  /** Null: only its marker is left. */
  readonly seq: number | null
  readonly id: EffectId
  /** Null: its marker does not tell it. */
  readonly existing: Fingerprint | null
  /** It was planned with the same payload. */
  readonly agrees: boolean
}

type Conflict = Extract<Planned, { kind: 'conflict' }>

/** Design decision 2: the record consumed, effects created or found, in the transaction that is open. */
export class Planning {
  readonly #outbox: Outbox
  readonly #counts: Counts
  readonly #markers: Markers
  readonly #find
  readonly #insert
  readonly #request
  readonly #due
  readonly #attempt
  readonly #cause
  readonly #planned
  readonly #alertAbout
  readonly #alertCauses

  constructor(db: DatabaseSync, outbox: Outbox, markers: Markers, counts: Counts) {
    this.#outbox = outbox
    this.#markers = markers
    this.#counts = counts
    // counterfoil_effect_key
    this.#find = db.prepare(
      'select seq, id, fingerprint from counterfoil_effect where key = ? and recipient = ?',
    )
    this.#insert = db.prepare(`
      insert into counterfoil_effect (id, recipient, key, name, fingerprint, idempotency_key, order_domain, order_version, planned_at, state, version, changed_at, in_turn, trace)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
    this.#request = db.prepare(
      'insert into counterfoil_request (effect, key_id, nonce, ciphertext) values (?, ?, ?, ?)',
    )
    this.#due = db.prepare(
      'insert into counterfoil_due (effect, recipient, at, worker, domain, in_turn, lane) values (?, ?, ?, ?, ?, ?, ?)',
    )
    this.#attempt = db.prepare(
      'insert into counterfoil_attempt (effect, number, begun_at, worker) values (?, 1, ?, ?)',
    )
    this.#cause = db.prepare(
      'insert into counterfoil_cause (effect, receipt, trigger, at) values (?, ?, ?, ?) on conflict do nothing',
    )
    this.#planned = db.prepare(
      "update counterfoil_receipt set state = 'planned', planned_at = ?, planned_by = ? where seq = ?",
    )
    this.#alertAbout = db.prepare('select receipt, effect from counterfoil_alert where seq = ?')
    // The unique indexes of both ids; counterfoil_cause by its primary key.
    this.#alertCauses = db.prepare(`
      insert into counterfoil_cause (effect, receipt, trigger, at)
      select ?1, seq, ?2, ?3 from counterfoil_receipt where id = ?4
      union all select ?1, receipt, ?2, ?3 from counterfoil_cause where effect = (select seq from counterfoil_effect where id = ?5)
      on conflict do nothing`)
  }

  /** @param undo takes back what a trigger wrote in this transaction, where there was one */
  plan(plan: Plan, undo: () => void): Planned {
    const { outbox, receipt, at, plannedBy, effects, onConflict } = plan
    if (!this.#outbox.holds(outbox, receipt)) {
      // Planned by another worker meanwhile: what this trigger wrote was written by that one already.
      undo()
      return { kind: 'consumed' }
    }
    const conflict = this.#conflict(plan)
    if (conflict !== null) {
      undo()
      const { recipient, key, planned, existing } = conflict
      const detail = { recipient, key, planned, existing }
      const quarantine = { ...onConflict, reason: 'effect-conflict' as const, detail }
      const entered = this.#outbox.giveUp({ outbox, receipt, quarantine, at })
      return { ...conflict, quarantine: entered ?? conflict.quarantine }
    }
    this.#outbox.consume(outbox)
    this.#planned.run(at, plannedBy, outbox)
    this.#counts.add('receipts.planned', 1)
    return { kind: 'planned', effects: effects.map((effect) => this.#effect(effect, outbox, at)) }
  }

  /** An alert is consumed as an outbox record is, and its effect has the causes of what it is about. */
  planAlert({ outbox, at, effect }: AlertPlan): AlertPlanned {
    const known = this.#known(effect)
    if (known?.agrees === false) return { kind: 'conflict', existing: known.existing }
    const about = this.#alertAbout.get(-outbox) as
      | { receipt: string | null; effect: string | null }
      | undefined
    if (about === undefined || !this.#outbox.consumeAlert(outbox)) return { kind: 'consumed' }
    const seq = known === undefined ? this.#create(effect, at) : known.seq
    if (seq !== null) this.#alertCauses.run(seq, effect.trigger, at, about.receipt, about.effect)
    return { kind: 'planned', created: known === undefined }
  }

  /** What forbids this plan: a key planned before, or twice in the plan itself, with another payload. */
  #conflict({ effects, onConflict }: Plan): Conflict | null {
    const own = new Map<string, Fingerprint>()
    for (const effect of effects) {
      const { recipient, key, fingerprint } = effect
      const name = `${recipient.length}:${recipient}${key}`
      const earlier = own.get(name)
      const known = this.#known(effect)
      const agrees = earlier === undefined ? (known?.agrees ?? true) : earlier === fingerprint
      if (!agrees) {
        const existing = earlier ?? known?.existing ?? null
        return { kind: 'conflict', recipient, key, planned: fingerprint, existing, quarantine: onConflict.id }
      }
      own.set(name, fingerprint)
    }
    return null
  }

  /** The effect of this key, or what is left of it. */
  #known({ recipient, key, fingerprint }: NewEffect): KnownEffect | undefined {
    const row = this.#find.get(key, recipient) as
      | { seq: number; id: EffectId; fingerprint: Uint8Array }
      | undefined
    if (row !== undefined) {
      const existing = fingerprintFromBytes(row.fingerprint)
      return { seq: row.seq, id: row.id, existing, agrees: existing === fingerprint }
    }
    const marker = this.#markers.ofEffect(recipient, key, fingerprintToBytes(fingerprint))
    return marker === undefined ? undefined : { ...marker, seq: null, existing: null }
  }

  #effect(effect: NewEffect, receipt: number, at: number): { id: EffectId; created: boolean } {
    const known = this.#known(effect)
    const seq = known === undefined ? this.#create(effect, at) : known.seq
    if (seq !== null) this.#cause.run(seq, receipt, effect.trigger, at)
    return { id: known?.id ?? effect.id, created: known === undefined }
  }

  #create(effect: NewEffect, at: number): number {
    const { id, recipient, key, name, fingerprint, idempotencyKey, order, plannedAt, request, begin } = effect
    const state = begin === undefined ? 'planned' : attempting
    const inTurn = Number(effect.inTurn === true)
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
      state,
      begin === undefined ? 1 : 2,
      plannedAt,
      inTurn,
      effect.trace,
    )
    const seq = written.lastInsertRowid as number
    this.#request.run(seq, request.keyId, request.nonce, request.ciphertext)
    this.#due.run(
      seq,
      recipient,
      plannedAt + (begin?.leaseMs ?? 0),
      begin?.worker ?? null,
      order?.domain ?? null,
      inTurn,
      Number(effect.behind === true && !effect.inTurn && begin === undefined),
    )
    // Design decision 3 in the same commit, where the worker that plans has a place free.
    if (begin !== undefined) this.#attempt.run(seq, at, begin.worker)
    this.#counts.add(`effects.${state}`, 1)
    return seq
  }
}
