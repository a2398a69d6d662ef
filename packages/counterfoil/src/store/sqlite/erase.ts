import type { DatabaseSync } from 'node:sqlite'
import type { EffectId, ReceiptId } from '../../domain/index.ts'
import type { Erased, Erasure } from '../store.ts'
import type { AuditLog } from './audit.ts'
import { destroying } from './forget.ts'

interface Found<Id> {
  readonly seq: number
  readonly id: Id
  readonly done: 0 | 1
}

/** Payloads and requests of one person, destroyed on request. What is known of them stays. */
export class Erase {
  readonly #db: DatabaseSync
  readonly #audit: AuditLog
  readonly #receipts
  readonly #effects
  readonly #payload
  readonly #request

  constructor(db: DatabaseSync, audit: AuditLog) {
    this.#db = db
    this.#audit = audit
    const receipts = `select seq from counterfoil_receipt where id in (select value from json_each(?1))`
    const effects = `select seq from counterfoil_effect where id in (select value from json_each(?2))`
    // The unique indexes of both ids, counterfoil_cause and its index by receipt.
    this.#receipts = db.prepare(`
      select r.seq, r.id, r.state = 'planned' or exists (select 1 from counterfoil_quarantine q
        where q.receipt = r.seq and q.state = 'dismissed') as done
      from counterfoil_receipt r where r.seq in (${receipts}
        union select receipt from counterfoil_cause where effect in (${effects})) order by r.seq`)
    this.#effects = db.prepare(`
      select e.seq, e.id, e.state in ('confirmed', 'refused', 'fenced', 'withdrawn') as done
      from counterfoil_effect e where e.seq in (${effects}
        union select effect from counterfoil_cause where receipt in (${receipts})) order by e.seq`)
    this.#payload = db.prepare('delete from counterfoil_vault where receipt = ?')
    this.#request = db.prepare('delete from counterfoil_request where effect = ?')
  }

  erase({ audit, receipts, effects }: Erasure): Erased {
    const made = this.#audit.made(audit)
    if (made !== null) {
      if (made.kind === 'other') return made
      const { payloads, requests } = made.record.result as { payloads: number; requests: number }
      return { kind: 'erased', payloads, requests, repeated: true }
    }
    const named = [JSON.stringify(receipts), JSON.stringify(effects)] as const
    const foundReceipts = this.#receipts.all(...named) as unknown as Found<ReceiptId>[]
    const foundEffects = this.#effects.all(...named) as unknown as Found<EffectId>[]
    const openReceipts = foundReceipts.filter(({ done }) => done === 0)
    const openEffects = foundEffects.filter(({ done }) => done === 0)
    if (openReceipts.length + openEffects.length > 0) {
      return {
        kind: 'refused',
        receipts: openReceipts.map(({ id }) => id),
        effects: openEffects.map(({ id }) => id),
      }
    }
    const result = destroying(this.#db, () => ({
      payloads: foundReceipts.filter(({ seq }) => this.#payload.run(seq).changes === 1).length,
      requests: foundEffects.filter(({ seq }) => this.#request.run(seq).changes === 1).length,
    }))
    this.#audit.append({ ...audit, result })
    return { kind: 'erased', ...result, repeated: false }
  }
}
