import type { DatabaseSync } from 'node:sqlite'
import type { QuarantineId, ReceiptId, WorkerId } from '../../domain/index.ts'
import { suspect } from '../records.ts'
import { toReceipt } from '../rows.ts'
import type { NewQuarantine, OutboxClaim, OutboxRecord, OutboxRenewal } from '../store.ts'
import type { Counts } from './counts.ts'
import type { Quarantine } from './quarantine.ts'
import { receiptColumns, toSealed } from './rows.ts'

interface ClaimedPlan {
  readonly receipt: number
  readonly tries: number
  readonly lost: number
}

/** An outbox number names a plan when positive (its receipt's seq) and an alert when negative. */
export class Outbox {
  readonly #quarantine: Quarantine
  readonly #counts: Counts
  readonly #lanes
  readonly #alertIsDue
  readonly #claimAlerts
  readonly #plan
  readonly #renew
  readonly #tryAlone
  readonly #receiptOf
  readonly #postponePlan
  readonly #postponeAlert
  readonly #consumePlan
  readonly #consumeAlert
  readonly #quarantined
  readonly #accepted
  readonly #again

  constructor(db: DatabaseSync, quarantine: Quarantine, counts: Counts) {
    this.#quarantine = quarantine
    this.#counts = counts
    // To look costs a thirtieth of an update that finds nothing, and most polls find nothing.
    this.#alertIsDue = db.prepare('select 1 from counterfoil_alert where at <= ? limit 1')
    // counterfoil_outbox_at, counterfoil_outbox_behind. By state and time, never by "greater than the last seen".
    const lane = (number: 0 | 1) => ({
      isDue: db.prepare(`select 1 from counterfoil_outbox where lane = ${number} and at <= ? limit 1`),
      claim: db.prepare(`
      update counterfoil_outbox set at = ?, worker = ?, lost = lost + (worker is not null and lost < ${suspect}) where receipt in
        (select receipt from counterfoil_outbox where lane = ${number} and at <= ? order by at limit ?)
      returning receipt, tries, lost`),
    })
    this.#lanes = [lane(0), lane(1)]
    // counterfoil_alert_at
    this.#claimAlerts = db.prepare(`
      update counterfoil_alert set at = ?, worker = ? where seq in
        (select seq from counterfoil_alert where at <= ? order by at limit ?)
      returning seq, tries, reason, owner, receipt, quarantine, effect, occasion, raised_at`)
    this.#plan = db.prepare(`
      select ${receiptColumns}, v.key_id, v.nonce, v.ciphertext
      from counterfoil_receipt r join counterfoil_vault v on v.receipt = r.seq where r.seq = ?`)
    // The primary key.
    this.#renew = db.prepare('update counterfoil_outbox set at = ? where worker = ? and receipt = ?')
    this.#tryAlone = db.prepare(
      'update counterfoil_outbox set lost = lost + 1 where worker = ? and receipt = ? returning lost',
    )
    // The primary keys of both.
    this.#receiptOf = db.prepare(
      'select r.id from counterfoil_outbox o join counterfoil_receipt r on r.seq = o.receipt where o.receipt = ?',
    )
    this.#postponePlan = db.prepare(
      'update counterfoil_outbox set at = ?, worker = null, tries = tries + 1, last_error = ? where receipt = ?',
    )
    this.#postponeAlert = db.prepare(
      'update counterfoil_alert set at = ?, worker = null, tries = tries + 1, last_error = ? where seq = ?',
    )
    this.#consumePlan = db.prepare('delete from counterfoil_outbox where receipt = ?')
    this.#consumeAlert = db.prepare('delete from counterfoil_alert where seq = ?')
    const state = 'update counterfoil_receipt set state ='
    this.#quarantined = db.prepare(`${state} 'quarantined' where seq = ?`)
    this.#accepted = db.prepare(`${state} 'accepted' where seq = ? and state = 'quarantined'`)
    this.#again = db.prepare('insert into counterfoil_outbox (receipt, at) values (?, ?)')
  }

  /**
   * Alerts take half of the room at most, so that a flood of them does not hold up plans. What a backfill brought
   * takes what nothing else wants.
   */
  claim({ worker, now, leaseMs, limit }: OutboxClaim): OutboxRecord[] {
    if (limit < 1) return []
    const until = now + leaseMs
    const alerts = (
      this.#alertIsDue.get(now) === undefined
        ? []
        : this.#claimAlerts.all(until, worker, now, Math.ceil(limit / 2))
    ) as Record<string, any>[]
    const room = limit - alerts.length
    const plans: ClaimedPlan[] = []
    for (const { isDue, claim } of this.#lanes) {
      const left = room - plans.length
      if (left > 0 && isDue.get(now) !== undefined) {
        plans.push(...(claim.all(until, worker, now, left) as unknown as ClaimedPlan[]))
      }
    }
    alerts.sort((a, b) => a.seq - b.seq)
    plans.sort((a, b) => a.receipt - b.receipt)
    return [...alerts.map(toAlert), ...plans.map((claimed) => this.#toPlan(claimed))]
  }

  /** @returns nothing where the record is another worker's, or gone */
  tryAlone({ worker, outbox }: { worker: WorkerId; outbox: number }): number | undefined {
    return (this.#tryAlone.get(worker, outbox) as { lost: number } | undefined)?.lost
  }

  renew(renewal: OutboxRenewal): void {
    const { worker, outbox, now, leaseMs } = renewal
    for (const number of outbox) this.#renew.run(now + leaseMs, worker, number)
  }

  /** The record is there and belongs to this receipt. */
  holds(outbox: number, receipt: ReceiptId): boolean {
    const row = this.#receiptOf.get(outbox) as { id: string } | undefined
    return row?.id === receipt
  }

  /** A record that is there goes away: its receipt is planned, or given up. */
  consume(outbox: number): void {
    this.#consumePlan.run(outbox)
    this.#counts.add('receipts.accepted', -1)
  }

  postpone({ outbox, at, error }: { outbox: number; at: number; error: string }): void {
    if (outbox < 0) this.#postponeAlert.run(at, error, -outbox)
    else this.#postponePlan.run(at, error, outbox)
  }

  /** The receipt of a record that is there goes to quarantine instead. @returns its entry there */
  giveUp(record: {
    outbox: number
    receipt: ReceiptId
    quarantine: NewQuarantine
    at: number
  }): QuarantineId | undefined {
    const { outbox, receipt, quarantine, at } = record
    if (!this.holds(outbox, receipt)) return undefined
    this.consume(outbox)
    this.#quarantined.run(outbox)
    this.#counts.add('receipts.quarantined', 1)
    return this.#quarantine.enter(outbox, receipt, quarantine, at)
  }

  /** A receipt in quarantine is accepted again, and waits for its plan. */
  release(receipt: number, at: number): void {
    this.#accepted.run(receipt)
    this.#again.run(receipt, at)
    this.#counts.add('receipts.quarantined', -1)
    this.#counts.add('receipts.accepted', 1)
  }

  /** @returns false when it was consumed before */
  consumeAlert(outbox: number): boolean {
    const { changes } = this.#consumeAlert.run(-outbox)
    if (changes === 1) this.#counts.add('alerts', -1)
    return changes === 1
  }

  #toPlan({ receipt, tries, lost }: ClaimedPlan): OutboxRecord {
    const row = this.#plan.get(receipt) as Record<string, unknown>
    return { kind: 'plan', outbox: receipt, tries, lost, receipt: toReceipt(row), payload: toSealed(row) }
  }
}

function toAlert(row: Record<string, any>): OutboxRecord {
  const { seq, tries, reason, owner, receipt, quarantine, effect, occasion, raised_at: at } = row
  const alert = { reason, owner, receipt, quarantine, effect, occasion, at }
  return { kind: 'alert', outbox: -seq, tries, alert }
}
