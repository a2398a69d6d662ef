import type { DatabaseSync } from 'node:sqlite'
import { CounterfoilError } from '../../domain/index.ts'
import type { Settled, Settlement } from '../store.ts'
import type { EffectMoves } from './effect-moves.ts'
import type { Quarantine } from './quarantine.ts'
import type { Reading } from './read.ts'

/** Design decision 4: what is known of an attempt, and where it moves its effect, by compare-and-set. */
export class Settle {
  readonly #reading: Reading
  readonly #moves: EffectMoves
  readonly #quarantine: Quarantine
  readonly #answer
  readonly #close
  readonly #evidence
  readonly #dueLater
  readonly #dueNever

  constructor(db: DatabaseSync, reading: Reading, moves: EffectMoves, quarantine: Quarantine) {
    this.#reading = reading
    this.#moves = moves
    this.#quarantine = quarantine
    // The primary key (effect, number). What was closed stays closed, what was answered stays answered; a late answer ends later.
    this.#answer = db.prepare(`
      update counterfoil_attempt set outcome = ?, why = ?, status = ?, correlation = ?, retry_after_ms = ?,
        open = open and ?, ended_at = max(ifnull(ended_at, 0), ?)
      where effect = ? and number = ? and (outcome is null or outcome = 'unknown')`)
    this.#close = db.prepare('update counterfoil_attempt set open = 0 where effect = ? and open = 1')
    this.#evidence = db.prepare(`
      insert into counterfoil_evidence (effect, at, kind, fact, attempt, from_state, to_state, why, status, correlation, by)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
    // The primary key of due.
    this.#dueLater = db.prepare(`
      insert into counterfoil_due (effect, recipient, at, worker, domain, in_turn) select seq, recipient, ?, null, order_domain, in_turn from counterfoil_effect where seq = ?
      on conflict (effect) do update set at = excluded.at, worker = null`)
    this.#dueNever = db.prepare('delete from counterfoil_due where effect = ?')
  }

  settle(settlement: Settlement): Settled {
    const { effect, expectedVersion, at, dueAt, attempt, closeAttempts, evidence, alert } = settlement
    const known = this.#moves.byId(effect)
    if (known === undefined) throw new CounterfoilError('not_found', `There is no effect ${effect}.`)
    const { seq } = known
    if (known.version !== expectedVersion) {
      return { kind: 'stale', current: this.#reading.effectBySeq(seq) }
    }
    this.#moves.move(known, settlement)
    if (attempt !== undefined) {
      const { number, outcome, why, status, correlation, retryAfterMs } = attempt
      const open = outcome === 'unknown' ? 1 : 0
      this.#answer.run(outcome, why, status, correlation, retryAfterMs, open, at, seq, number)
    }
    if (closeAttempts) this.#close.run(seq)
    if (evidence !== undefined) {
      const { kind, fact, attempt: of, from, why, status, correlation, by } = evidence
      this.#evidence.run(seq, at, kind, fact, of, from, settlement.to, why, status, correlation, by)
    }
    if (alert !== undefined) this.#quarantine.alert(effect, expectedVersion + 1, alert, at)
    if (dueAt === null) this.#dueNever.run(seq)
    else if (dueAt !== 'unchanged') this.#dueLater.run(dueAt, seq)
    return { kind: 'settled', version: expectedVersion + 1 }
  }
}
