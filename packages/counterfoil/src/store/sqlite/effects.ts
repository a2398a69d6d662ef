import type { DatabaseSync } from 'node:sqlite'
import type { EffectId, EffectState, WorkerId } from '../../domain/index.ts'
import type { DueClaim, DueWork, EffectWork, RepeatBegin, Settled, Settlement } from '../store.ts'
import type { Counts } from './counts.ts'
import type { Reading } from './read.ts'
import { toSealed } from './rows.ts'

/** Design decisions 3 and 4: attempts begun before their first byte, and settled by compare-and-set. */
export class Effects {
  readonly #reading: Reading
  readonly #counts: Counts
  readonly #claim
  readonly #stateOf
  readonly #begin
  readonly #attempt
  readonly #request
  readonly #lease
  readonly #renew
  readonly #settle
  readonly #answer
  readonly #close
  readonly #evidence
  readonly #dueLater
  readonly #dueNever
  readonly #alert

  constructor(db: DatabaseSync, reading: Reading, counts: Counts) {
    this.#reading = reading
    this.#counts = counts
    // counterfoil_due_at
    this.#claim = db.prepare(`
      update counterfoil_due set at = ?, worker = ? where effect in
        (select effect from counterfoil_due where recipient = ? and at <= ? order by at limit ?)
      returning effect`)
    this.#stateOf = db.prepare(
      'select seq, state, version, disputed, escalated from counterfoil_effect where id = ?',
    )
    this.#begin = db.prepare(
      "update counterfoil_effect set state = 'attempting', version = version + 1, escalated = 0, changed_at = ? where seq = ?",
    )
    this.#attempt = db.prepare(`
      insert into counterfoil_attempt (effect, number, begun_at, worker)
      select ?1, coalesce(max(number), 0) + 1, ?2, ?3 from counterfoil_attempt where effect = ?1 returning number`)
    this.#request = db.prepare('select key_id, nonce, ciphertext from counterfoil_request where effect = ?')
    this.#lease = db.prepare(`
      insert into counterfoil_due (effect, recipient, at, worker) select seq, recipient, ?, ? from counterfoil_effect where seq = ?
      on conflict (effect) do update set at = excluded.at, worker = excluded.worker`)
    this.#renew = db.prepare(`
      update counterfoil_due set at = ? where worker = ?
        and effect = (select seq from counterfoil_effect where id = ? and state = 'attempting')`)
    this.#settle = db.prepare(`
      update counterfoil_effect set state = ?, version = version + 1, disputed = ?, escalated = ?, changed_at = ? where seq = ?`)
    this.#answer = db.prepare(`
      update counterfoil_attempt set outcome = ?, why = ?, status = ?, correlation = ?, retry_after_ms = ?, open = ?, ended_at = coalesce(ended_at, ?)
      where effect = ? and number = ? and (outcome is null or outcome = 'unknown')`)
    this.#close = db.prepare('update counterfoil_attempt set open = 0 where effect = ? and open = 1')
    this.#evidence = db.prepare(`
      insert into counterfoil_evidence (effect, at, kind, fact, attempt, from_state, to_state, why, status, correlation, by)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
    this.#dueLater = db.prepare(`
      insert into counterfoil_due (effect, recipient, at, worker) select seq, recipient, ?, null from counterfoil_effect where seq = ?
      on conflict (effect) do update set at = excluded.at, worker = null`)
    this.#dueNever = db.prepare('delete from counterfoil_due where effect = ?')
    this.#alert = db.prepare(
      'insert into counterfoil_alert (at, raised_at, reason, owner, effect) values (?, ?, ?, ?, ?)',
    )
  }

  takeDue({ worker, now, leaseMs, slots }: DueClaim): DueWork[] {
    const taken: DueWork[] = []
    for (const [recipient, limit] of Object.entries(slots)) {
      const rows = this.#claim.all(now + leaseMs, worker, recipient, now, limit) as { effect: number }[]
      for (const { effect } of rows) {
        const state = this.#reading.stateBySeq(effect)
        if (state === 'planned') taken.push(this.#beginAttempt(effect, state, worker, now))
        else taken.push({ kind: 'attention', effect: this.#reading.effectBySeq(effect) })
      }
    }
    return taken
  }

  beginRepeat({ effect, expectedVersion, worker, now, leaseMs }: RepeatBegin): EffectWork | null {
    const known = this.#known(effect)
    if (known === undefined || known.version !== expectedVersion || known.state !== 'unknown') return null
    this.#lease.run(now + leaseMs, worker, known.seq)
    return this.#beginAttempt(known.seq, known.state, worker, now)
  }

  renew({
    worker,
    effects,
    now,
    leaseMs,
  }: {
    worker: WorkerId
    effects: readonly EffectId[]
    now: number
    leaseMs: number
  }): void {
    for (const effect of effects) this.#renew.run(now + leaseMs, worker, effect)
  }

  settle(settlement: Settlement): Settled {
    const {
      effect,
      expectedVersion,
      at,
      to,
      disputed,
      escalated,
      dueAt,
      attempt,
      closeAttempts,
      evidence,
      alert,
    } = settlement
    const known = this.#known(effect)
    if (known === undefined) throw new Error(`there is no effect ${effect}`)
    if (known.version !== expectedVersion)
      return { kind: 'stale', current: this.#reading.effectBySeq(known.seq) }
    const { seq } = known
    this.#settle.run(to, disputed ? 1 : 0, escalated ? 1 : 0, at, seq)
    this.#move(known.state, to)
    this.#counts.add('disputed', Number(disputed) - known.disputed)
    this.#counts.add('escalated', Number(escalated) - known.escalated)
    if (attempt !== undefined) {
      const { number, outcome, why, status, correlation, retryAfterMs } = attempt
      this.#answer.run(
        outcome,
        why,
        status,
        correlation,
        retryAfterMs,
        outcome === 'unknown' ? 1 : 0,
        at,
        seq,
        number,
      )
    }
    if (closeAttempts) this.#close.run(seq)
    if (evidence !== undefined) {
      const { kind, fact, attempt: of, from, why, status, correlation, by } = evidence
      this.#evidence.run(seq, at, kind, fact, of, from, to, why, status, correlation, by)
    }
    if (alert !== undefined) {
      this.#alert.run(at, at, alert.reason, alert.owner, effect)
      this.#counts.add('alerts', 1)
    }
    if (dueAt === null) this.#dueNever.run(seq)
    else if (dueAt !== 'unchanged') this.#dueLater.run(dueAt, seq)
    return { kind: 'settled', version: expectedVersion + 1 }
  }

  #beginAttempt(seq: number, from: EffectState, worker: WorkerId, now: number): EffectWork {
    const { number } = this.#attempt.get(seq, now, worker) as { number: number }
    this.#begin.run(now, seq)
    this.#move(from, 'attempting')
    const request = toSealed(this.#request.get(seq) as Record<string, unknown>)
    return { kind: 'attempt', effect: this.#reading.effectBySeq(seq), attempt: number, request }
  }

  #known(effect: EffectId) {
    return this.#stateOf.get(effect) as
      | { seq: number; state: EffectState; version: number; disputed: number; escalated: number }
      | undefined
  }

  #move(from: EffectState, to: EffectState): void {
    if (from === to) return
    this.#counts.add(`effects.${from}`, -1)
    this.#counts.add(`effects.${to}`, 1)
  }
}
