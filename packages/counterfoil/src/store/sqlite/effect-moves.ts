import type { DatabaseSync } from 'node:sqlite'
import type { EffectId, EffectState } from '../../domain/index.ts'
import type { Counts } from './counts.ts'

/** What a change of an effect needs to know of it first. */
export interface KnownEffect {
  readonly seq: number
  readonly state: EffectState
  readonly version: number
  readonly disputed: 0 | 1
  readonly escalated: 0 | 1
}

export interface EffectChange {
  readonly to: EffectState
  readonly disputed: boolean
  readonly escalated: boolean
  readonly at: number
}

/** The only place that writes an effect's state: version and totals move with it. */
export class EffectMoves {
  readonly #counts: Counts
  readonly #byId
  readonly #bySeq
  readonly #move

  constructor(db: DatabaseSync, counts: Counts) {
    this.#counts = counts
    const known = 'select seq, state, version, disputed, escalated from counterfoil_effect'
    // The unique index of id.
    this.#byId = db.prepare(`${known} where id = ?`)
    this.#bySeq = db.prepare(`${known} where seq = ?`)
    // The trigger counterfoil_effect_final refuses to move what is final.
    this.#move = db.prepare(`
      update counterfoil_effect set state = ?, version = version + 1, disputed = ?, escalated = ?, changed_at = ?
      where seq = ? and version = ?`)
  }

  byId(effect: EffectId): KnownEffect | undefined {
    return this.#byId.get(effect) as unknown as KnownEffect | undefined
  }

  bySeq(seq: number): KnownEffect {
    return this.#bySeq.get(seq) as unknown as KnownEffect
  }

  move(from: KnownEffect, { to, disputed, escalated, at }: EffectChange): void {
    this.#move.run(to, disputed ? 1 : 0, escalated ? 1 : 0, at, from.seq, from.version)
    if (from.state !== to) {
      this.#counts.add(`effects.${from.state}`, -1)
      this.#counts.add(`effects.${to}`, 1)
    }
    this.#counts.add('disputed', Number(disputed) - from.disputed)
    this.#counts.add('escalated', Number(escalated) - from.escalated)
  }
}
