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
  readonly #receipt
  readonly #effect
  readonly #causesOf
  readonly #effectsOf
  readonly #payload
  readonly #request

  constructor(db: DatabaseSync, audit: AuditLog) {
    this.#db = db
    this.#audit = audit
    const receipt = `select r.seq, r.id, r.state = 'planned' or exists (select 1 from counterfoil_quarantine q
        where q.receipt = r.seq and q.state = 'dismissed') as done`
    const effect = "select e.seq, e.id, e.state in ('confirmed', 'refused', 'fenced', 'withdrawn') as done"
    // The unique indexes of both ids; counterfoil_cause by its primary key and by its index of receipts.
    this.#receipt = db.prepare(`${receipt} from counterfoil_receipt r where r.id = ?`)
    this.#effect = db.prepare(`${effect} from counterfoil_effect e where e.id = ?`)
    this.#causesOf = db.prepare(`
      ${receipt} from counterfoil_cause c join counterfoil_receipt r on r.seq = c.receipt where c.effect = ?`)
    this.#effectsOf = db.prepare(`
      ${effect} from counterfoil_cause c join counterfoil_effect e on e.seq = c.effect where c.receipt = ?`)
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
    const ofReceipts = receipts.flatMap((id) => this.#receipt.all(id)) as unknown as Found<ReceiptId>[]
    const ofEffects = effects.flatMap((id) => this.#effect.all(id)) as unknown as Found<EffectId>[]
    const causes = ofEffects.flatMap(({ seq }) => this.#causesOf.all(seq)) as unknown as Found<ReceiptId>[]
    const caused = ofReceipts.flatMap(({ seq }) => this.#effectsOf.all(seq)) as unknown as Found<EffectId>[]
    const foundReceipts = once([...ofReceipts, ...causes])
    const foundEffects = once([...ofEffects, ...caused])
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

/** In the order of their numbers. */
function once<Id>(found: readonly Found<Id>[]): Found<Id>[] {
  return [...new Map(found.map((one) => [one.seq, one])).values()].sort((a, b) => a.seq - b.seq)
}
