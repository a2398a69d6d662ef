import type { DatabaseSync } from 'node:sqlite'
import type { EffectId, ReceiptId } from '../../domain/index.ts'
import type { NewQuarantine } from '../store.ts'
import type { Counts } from './counts.ts'

/** Quarantine entries and alerts, in the transaction of whatever raised them. */
export class Quarantine {
  readonly #counts: Counts
  readonly #enter
  readonly #alert

  constructor(db: DatabaseSync, counts: Counts) {
    this.#counts = counts
    this.#enter = db.prepare(
      'insert into counterfoil_quarantine (id, receipt, reason, detail, owner, at) values (?, ?, ?, ?, ?, ?)',
    )
    this.#alert = db.prepare(
      'insert into counterfoil_alert (at, raised_at, reason, owner, receipt, quarantine, effect) values (?, ?, ?, ?, ?, ?, ?)',
    )
  }

  /** Entry and alert for a receipt that is written already. */
  enter(seq: number, receipt: ReceiptId, { id, reason, detail, owner }: NewQuarantine, at: number): void {
    this.#enter.run(id, seq, reason, JSON.stringify(detail), owner, at)
    this.#alert.run(at, at, reason, owner, receipt, id, null)
    this.#counts.add('quarantine', 1)
    this.#counts.add('alerts', 1)
  }

  /** An alert about an effect. */
  alert(
    effect: EffectId,
    { reason, owner }: { readonly reason: string; readonly owner: string },
    at: number,
  ): void {
    this.#alert.run(at, at, reason, owner, null, null, effect)
    this.#counts.add('alerts', 1)
  }
}
