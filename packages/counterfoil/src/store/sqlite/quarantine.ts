import type { DatabaseSync } from 'node:sqlite'
import type { EffectId, QuarantineId, ReceiptId } from '../../domain/index.ts'
import type { NewQuarantine } from '../store.ts'
import type { Counts } from './counts.ts'

/** Quarantine entries and alerts, in the transaction of whatever raised them. */
export class Quarantine {
  readonly #counts: Counts
  readonly #enter
  readonly #return
  readonly #note
  readonly #alert
  readonly #unattended

  constructor(db: DatabaseSync, counts: Counts) {
    this.#counts = counts
    // The unique index of counterfoil_quarantine.receipt finds the entry of a receipt that was here before.
    this.#enter = db.prepare(`
      insert into counterfoil_quarantine (id, receipt, reason, detail, owner, at, attended_at, producer, type, event_id)
      select ?1, seq, ?3, ?4, ?5, ?6, ?6, producer, type, event_id from counterfoil_receipt where seq = ?2
      on conflict (receipt) do nothing`)
    this.#return = db.prepare(`
      update counterfoil_quarantine set state = 'waiting', version = version + 1, attended_at = ?,
        changed_after = coalesce((select max(number) from counterfoil_audit), 0)
      where receipt = ? and state = 'released' returning seq, id, version, owner`)
    this.#note = db.prepare(
      'insert into counterfoil_quarantine_note (entry, at, reason, detail, by) values (?, ?, ?, ?, ?)',
    )
    this.#alert = db.prepare(
      'insert into counterfoil_alert (at, raised_at, reason, owner, receipt, quarantine, effect, occasion) values (?, ?, ?, ?, ?, ?, ?, ?)',
    )
    // Named, because the planner takes the index of assignees for as good, and that one has not this order.
    this.#unattended = db.prepare(`
      update counterfoil_quarantine set attended_at = ? where seq in
        (select seq from counterfoil_quarantine indexed by counterfoil_quarantine_unattended
         where state = 'waiting' and assignee is null and attended_at <= ?
         order by attended_at limit ?)
      returning id, (select r.id from counterfoil_receipt r where r.seq = counterfoil_quarantine.receipt) as receipt`)
  }

  /** Entry and alert for a receipt that is written already. @returns its entry: the one of before, where there was one */
  enter(seq: number, receipt: ReceiptId, given: NewQuarantine, at: number): QuarantineId {
    const { id, reason, detail, owner } = given
    this.#counts.add('quarantine', 1)
    if (this.#enter.run(id, seq, reason, JSON.stringify(detail), owner, at).changes === 1) {
      this.#raise({ reason, owner, receipt, quarantine: id, occasion: 'raised' }, at)
      return id
    }
    const known = this.#return.get(at, seq) as {
      seq: number
      id: QuarantineId
      version: number
      owner: string
    }
    this.note(known.seq, { reason, detail, by: 'engine' }, at)
    const occasion = `returned/${known.version}`
    this.#raise({ reason, owner: known.owner, receipt, quarantine: known.id, occasion }, at)
    return known.id
  }

  note(
    entry: number,
    about: Pick<NewQuarantine, 'reason' | 'detail'> & { readonly by: string },
    at: number,
  ): void {
    this.#note.run(entry, at, about.reason, JSON.stringify(about.detail), about.by)
  }

  /** An alert about an effect that is now at `version`. */
  alert(
    effect: EffectId,
    version: number,
    { reason, owner }: { readonly reason: string; readonly owner: string },
    at: number,
  ): void {
    this.#raise({ reason, owner, effect, occasion: `version/${version}` }, at)
  }

  alertUnattended(about: { now: number; since: number; owner: string; limit: number }): number {
    const { now, since, owner, limit } = about
    const entries = this.#unattended.all(now, since, limit) as { id: QuarantineId; receipt: ReceiptId }[]
    for (const { id, receipt } of entries) {
      this.#raise(
        { reason: 'unattended', owner, receipt, quarantine: id, occasion: `unattended/${now}` },
        now,
      )
    }
    return entries.length
  }

  #raise(
    alert: {
      readonly reason: string
      readonly owner: string
      readonly receipt?: ReceiptId
      readonly quarantine?: QuarantineId
      readonly effect?: EffectId
      readonly occasion: string
    },
    at: number,
  ): void {
    const { reason, owner, receipt = null, quarantine = null, effect = null, occasion } = alert
    this.#alert.run(at, at, reason, owner, receipt, quarantine, effect, occasion)
    this.#counts.add('alerts', 1)
  }
}
