import type { DatabaseSync } from 'node:sqlite'
import type { QuarantineState } from '../records.ts'
import type { QuarantineDecided, QuarantineDecision, QuarantineResult } from '../store.ts'
import type { AuditLog } from './audit.ts'
import type { Counts } from './counts.ts'
import type { Outbox } from './outbox.ts'
import type { Quarantine } from './quarantine.ts'

interface Known {
  readonly seq: number
  readonly receipt: number
  readonly state: QuarantineState
  readonly version: number
}
type Entry = QuarantineDecision['entries'][number]

/** An operator's decision: entries by compare-and-set, and the audit row that says so, in one transaction. */
export class QuarantineDecide {
  readonly #audit: AuditLog
  readonly #quarantine: Quarantine
  readonly #outbox: Outbox
  readonly #counts: Counts
  readonly #known
  readonly #move
  readonly #assign

  constructor(db: DatabaseSync, audit: AuditLog, quarantine: Quarantine, outbox: Outbox, counts: Counts) {
    this.#audit = audit
    this.#quarantine = quarantine
    this.#outbox = outbox
    this.#counts = counts
    // The unique index of id.
    this.#known = db.prepare('select seq, receipt, state, version from counterfoil_quarantine where id = ?')
    this.#move = db.prepare(`
      update counterfoil_quarantine set state = ?, version = version + 1, attended_at = ?, changed_after = ? where seq = ?`)
    this.#assign = db.prepare('update counterfoil_quarantine set assignee = ? where seq = ?')
  }

  decide({ audit, entries, whole }: QuarantineDecision): QuarantineDecided {
    const made = this.#audit.made(audit)
    if (made?.kind === 'other') return made
    if (made !== null) {
      const results = made.record.result.results as readonly QuarantineResult[]
      return { kind: 'decided', results, repeated: true }
    }
    const checked = entries.map((entry) => this.#check(entry))
    const movable = checked.every(({ known }) => known !== null)
    const results = checked.map(({ result }) => result)
    if (whole && !movable) return { kind: 'refused', results }
    const { number } = this.#audit.append({ ...audit, result: { results } })
    for (const { entry, known } of checked) {
      if (known !== null) this.#write(entry, known, audit, number)
    }
    return { kind: 'decided', results, repeated: false }
  }

  #check(entry: Entry): { entry: Entry; known: Known | null; result: QuarantineResult } {
    const { id, expectedVersion, move } = entry
    const known = this.#known.get(id) as unknown as Known | undefined
    const stays = (outcome: QuarantineResult['outcome'], version = 0) => ({
      entry,
      known: null,
      result: { id, outcome, version },
    })
    if (known === undefined) return stays('absent')
    if (known.state !== 'waiting') return stays('settled', known.version)
    if (known.version !== expectedVersion) return stays('stale', known.version)
    return { entry, known, result: { id, outcome: move.to, version: known.version + 1 } }
  }

  #write({ move }: Entry, { seq, receipt }: Known, audit: QuarantineDecision['audit'], row: number): void {
    const { at, operator } = audit
    const state = move.to === 'released' || move.to === 'dismissed' ? move.to : 'waiting'
    this.#move.run(state, at, row, seq)
    if (state !== 'waiting') this.#counts.add('quarantine', -1)
    if (move.to === 'assigned') this.#assign.run(move.assignee, seq)
    if (move.to === 'kept') this.#quarantine.note(seq, { ...move, by: operator }, at)
    if (move.to === 'released') this.#outbox.release(receipt, at)
  }
}
