import type { DatabaseSync, StatementSync } from 'node:sqlite'
import {
  assert,
  type EffectId,
  type Fact,
  type Limits,
  transition,
  type WorkerId,
} from '../../domain/index.ts'
import type { DueClaim, DueWork, EffectWork, RepeatBegin } from '../store.ts'
import { Turns } from '../turns.ts'
import type { EffectMoves, KnownEffect } from './effect-moves.ts'
import type { Pace } from './pace.ts'
import type { Reading } from './read.ts'
import { toSealed } from './rows.ts'

interface Claimed {
  readonly effect: number
}

/** Design decision 3: attempts begun, with their lease, before their first byte. */
export class Due {
  readonly #reading: Reading
  readonly #moves: EffectMoves
  readonly #pace: Pace
  readonly #lanes
  readonly #domain
  readonly #claimOf
  readonly #claimFirst
  readonly #turns = new Turns()
  readonly #attempt
  readonly #request
  readonly #lease
  readonly #hold
  readonly #renew

  constructor(db: DatabaseSync, reading: Reading, moves: EffectMoves, pace: Pace) {
    this.#pace = pace
    this.#reading = reading
    this.#moves = moves
    // counterfoil_due_at, counterfoil_due_behind; to look costs a fraction of an update that finds nothing. What was
    // begun once waits behind nothing: its outcome has to be learned while that can be asked for.
    const lane = (those: string) => ({
      isDue: db.prepare(`select 1 from counterfoil_due where recipient = ? and at <= ? and ${those} limit 1`),
      claim: db.prepare(`
      update counterfoil_due set at = ?, worker = ?, lane = 0 where effect in
        (select effect from counterfoil_due where recipient = ? and at <= ? and ${those} order by at limit ?)
      returning effect`),
    })
    this.#lanes = [lane('in_turn = 0 and lane = 0'), lane('lane = 1')]
    // counterfoil_due_domain: one probe for each domain, however many effects wait in it.
    this.#domain = db.prepare(
      'select domain from counterfoil_due where recipient = ? and domain > ? and lane = 0 order by domain limit 1',
    )
    // counterfoil_due_domain
    this.#claimOf = db.prepare(`
      update counterfoil_due set at = ?, worker = ? where effect =
        (select effect from counterfoil_due where recipient = ? and domain = ? and at <= ? and lane = 0 order by at limit 1)
      returning effect`)
    // counterfoil_effect_turn: the first of its domain that is not final, due or not. Then the primary key of due.
    this.#claimFirst = db.prepare(`
      update counterfoil_due set at = ?, worker = ? where effect =
        (select seq from counterfoil_effect where recipient = ? and order_domain = ? and in_turn = 1
         and state in ('planned', 'attempting', 'unknown') order by order_version, seq limit 1) and at <= ?
      returning effect`)
    // The primary key (effect, number).
    this.#attempt = db.prepare(`
      insert into counterfoil_attempt (effect, number, begun_at, worker)
      select ?1, coalesce(max(number), 0) + 1, ?2, ?3 from counterfoil_attempt where effect = ?1 returning number`)
    this.#request = db.prepare('select key_id, nonce, ciphertext from counterfoil_request where effect = ?')
    this.#lease = db.prepare(`
      insert into counterfoil_due (effect, recipient, at, worker, domain, in_turn) select seq, recipient, ?, ?, order_domain, in_turn from counterfoil_effect where seq = ?
      on conflict (effect) do update set at = excluded.at, worker = excluded.worker`)
    this.#hold = db.prepare('update counterfoil_due set at = ?, worker = null where effect = ?')
    // The unique index of id, then the primary key of due.
    this.#renew = db.prepare(`
      update counterfoil_due set at = ? where worker = ?
        and effect = (select seq from counterfoil_effect where id = ? and state = 'attempting')`)
  }

  takeDue({ worker, now, leaseMs, slots, limits = {}, inTurn = [] }: DueClaim): DueWork[] {
    const taken: DueWork[] = []
    for (const [recipient, wanted] of Object.entries(slots)) {
      const waits = inTurn.includes(recipient)
      if (!waits && this.#lanes.every(({ isDue }) => isDue.get(recipient, now) === undefined)) continue
      const limited = limits[recipient]
      const limit =
        limited === undefined ? wanted : Math.min(wanted, this.#pace.room(recipient, limited, now))
      // To SQLite a negative limit is none.
      if (limit < 1) continue
      const claim = { worker, now, leaseMs }
      const round = waits
        ? this.#round(recipient, this.#claimFirst, { take: limit, visit: Turns.visits(limit) }, claim)
        : this.#round(recipient, this.#claimOf, this.#shareOf(limit), claim)
      const rows = [...round]
      for (const { isDue, claim: take } of this.#lanes) {
        const left = limit - rows.length
        if (left < 1 || isDue.get(recipient, now) === undefined) continue
        rows.push(...(take.all(now + leaseMs, worker, recipient, now, left) as unknown as Claimed[]))
      }
      rows.sort((a, b) => a.effect - b.effect)
      for (const { effect } of rows) {
        const known = this.#moves.bySeq(effect)
        if (known.state === 'planned') taken.push(this.#begin(known, 'begun', worker, now, limited))
        else taken.push({ kind: 'attention', effect: this.#reading.effectBySeq(effect) })
      }
    }
    this.#turns.claimed()
    return taken
  }

  #shareOf(limit: number): { take: number; visit: number } {
    const share = Math.min(limit, this.#turns.share(limit))
    return { take: share, visit: share }
  }

  /** One effect of each ordering domain whose turn it is. */
  #round(
    recipient: string,
    claimOne: StatementSync,
    { take, visit }: { readonly take: number; readonly visit: number },
    { worker, now, leaseMs }: Pick<DueClaim, 'worker' | 'now' | 'leaseMs'>,
  ): Claimed[] {
    const taken: Claimed[] = []
    let after = this.#turns.after(recipient)
    for (let n = 0; n < visit && taken.length < take; n++) {
      const next = this.#domain.get(recipient, after) as { domain: string } | undefined
      if (next === undefined) {
        this.#turns.turnedTo(recipient, null)
        return taken
      }
      after = next.domain
      const row = claimOne.get(now + leaseMs, worker, recipient, after, now) as Claimed | undefined
      if (row !== undefined) taken.push(row)
    }
    this.#turns.turnedTo(recipient, after)
    return taken
  }

  beginRepeat(repeat: RepeatBegin): EffectWork | null {
    const { effect, expectedVersion, worker, now, leaseMs, limited } = repeat
    const known = this.#moves.byId(effect)
    if (known === undefined || known.version !== expectedVersion || known.state !== 'unknown') return null
    if (limited !== undefined && this.#pace.room(limited.recipient, limited.limits, now) < 1) {
      this.#hold.run(now + this.#pace.wait(limited.recipient, limited.limits, now), known.seq)
      return null
    }
    this.#lease.run(now + leaseMs, worker, known.seq)
    return this.#begin(known, 'repeatBegun', worker, now, limited?.limits)
  }

  renew(renewal: { worker: WorkerId; effects: readonly EffectId[]; now: number; leaseMs: number }): void {
    const { worker, effects, now, leaseMs } = renewal
    for (const effect of effects) this.#renew.run(now + leaseMs, worker, effect)
  }

  #begin(known: KnownEffect, fact: Fact, worker: WorkerId, now: number, limits?: Limits): EffectWork {
    const { seq } = known
    const next = transition(known.state, fact)
    assert(next.kind === 'moves', `an effect that is ${known.state} cannot be ${fact}`)
    const { number } = this.#attempt.get(seq, now, worker) as { number: number }
    this.#moves.move(known, { to: next.to, disputed: known.disputed === 1, escalated: false, at: now })
    const request = toSealed(this.#request.get(seq) as Record<string, unknown>)
    const effect = this.#reading.effectBySeq(seq)
    if (limits !== undefined) this.#pace.begun(effect.recipient, limits, seq, number, now)
    return { kind: 'attempt', effect, attempt: number, request }
  }
}
