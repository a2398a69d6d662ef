import { CounterfoilError } from '../../domain/index.ts'
import type { EffectDecided, EffectDecision } from '../store.ts'
import type { AuditLog } from './audit.ts'
import type { Run } from './connection.ts'
import { quoted, type Statement } from './statement.ts'

interface Parts {
  readonly audit: AuditLog
  readonly settle: Statement
  readonly parametersOf: (settlement: NonNullable<EffectDecision['settlement']>) => Parameters<Run>[1]
}

/** An operator's decision: an effect by compare-and-set, and the audit row that says so, in one transaction. */
export class EffectDecide {
  readonly #parts: Parts
  readonly #now: Statement

  constructor(schema: string, parts: Parts) {
    this.#parts = parts
    this.#now = stateStatement(schema)
  }

  /**
   * @param run in the transaction of the decision
   * @returns null when the effect is not at the expected version; nothing was written
   */
  async decide(
    { audit, effect, expectedVersion, settlement }: EffectDecision,
    run: Run,
  ): Promise<Exclude<EffectDecided, { kind: 'stale' }> | null> {
    const made = await this.#parts.audit.made(audit, run)
    if (made?.kind === 'other') return made
    if (made !== null) return { kind: 'decided', record: made.record, repeated: true }
    const [now] = await run(this.#now, [effect])
    if (now === undefined) throw new CounterfoilError('not_found', `There is no effect ${effect}.`)
    if (now.version !== expectedVersion) return null
    if (settlement !== null) {
      const { settle, parametersOf } = this.#parts
      const [settled] = await run(settle, parametersOf(settlement))
      // Somebody moved it since it was looked at.
      if (settled?.moved !== true) return null
    }
    const version = settlement === null ? expectedVersion : expectedVersion + 1
    const result = { from: now.state, to: settlement?.to ?? now.state, version }
    return {
      kind: 'decided',
      record: await this.#parts.audit.append({ ...audit, result }, run),
      repeated: false,
    }
  }
}

/** The unique index of effect.id, the primary keys of open and final. */
export function stateStatement(schema: string): Statement {
  const s = quoted(schema)
  return {
    name: 'counterfoil_effect_state',
    writes: false,
    text: `
select coalesce(o.state, f.state) as state, coalesce(o.version, f.version)::float8 as version
from ${s}.effect e left join ${s}.open o on o.effect = e.seq left join ${s}.final f on f.effect = e.seq where e.id = $1::text`,
  }
}
