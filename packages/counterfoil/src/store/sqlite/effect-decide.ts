import { CounterfoilError } from '../../domain/index.ts'
import type { EffectDecided, EffectDecision } from '../store.ts'
import type { AuditLog } from './audit.ts'
import type { EffectMoves } from './effect-moves.ts'
import type { Reading } from './read.ts'
import type { Settle } from './settle.ts'

/** An operator's decision: an effect by compare-and-set, and the audit row that says so, in one transaction. */
export class EffectDecide {
  readonly #audit: AuditLog
  readonly #reading: Reading
  readonly #moves: EffectMoves
  readonly #settle: Settle

  constructor(audit: AuditLog, reading: Reading, moves: EffectMoves, settle: Settle) {
    this.#audit = audit
    this.#reading = reading
    this.#moves = moves
    this.#settle = settle
  }

  decide({ audit, effect, expectedVersion, settlement }: EffectDecision): EffectDecided {
    const made = this.#audit.made(audit)
    if (made?.kind === 'other') return made
    if (made !== null) return { kind: 'decided', record: made.record, repeated: true }
    const known = this.#moves.byId(effect)
    if (known === undefined) throw new CounterfoilError('not_found', `There is no effect ${effect}.`)
    if (known.version !== expectedVersion) {
      return { kind: 'stale', current: this.#reading.effectBySeq(known.seq) }
    }
    if (settlement !== null) this.#settle.settle(settlement)
    const version = settlement === null ? expectedVersion : expectedVersion + 1
    const result = { from: known.state, to: settlement?.to ?? known.state, version }
    return { kind: 'decided', record: this.#audit.append({ ...audit, result }), repeated: false }
  }
}
