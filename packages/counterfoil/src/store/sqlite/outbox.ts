import type { DatabaseSync } from 'node:sqlite'
import type { ReceiptId } from '../../domain/index.ts'
import type { NewQuarantine, OutboxClaim, OutboxRecord } from '../store.ts'
import type { Accept } from './accept.ts'
import type { Counts } from './counts.ts'
import { receiptColumns, toReceipt, toSealed } from './rows.ts'

/** An outbox number names a plan when positive and an alert when negative. */
export class Outbox {
  readonly #accept: Accept
  readonly #counts: Counts
  readonly #claimPlans
  readonly #claimAlerts
  readonly #plan
  readonly #receiptId
  readonly #postponePlan
  readonly #postponeAlert
  readonly #consumePlan
  readonly #consumeAlert
  readonly #quarantined

  constructor(db: DatabaseSync, accept: Accept, counts: Counts) {
    this.#accept = accept
    this.#counts = counts
    // counterfoil_outbox_at. By state and time, never by "greater than the last seen".
    this.#claimPlans = db.prepare(`
      update counterfoil_outbox set at = ?, worker = ? where receipt in
        (select receipt from counterfoil_outbox where at <= ? order by at limit ?)
      returning receipt, tries`)
    this.#claimAlerts = db.prepare(`
      update counterfoil_alert set at = ?, worker = ? where seq in
        (select seq from counterfoil_alert where at <= ? order by at limit ?)
      returning seq, tries, reason, owner, quarantine, effect, raised_at,
        (select id from counterfoil_receipt r where r.seq = counterfoil_alert.receipt) as receipt`)
    this.#plan = db.prepare(`
      select ${receiptColumns}, v.key_id, v.nonce, v.ciphertext
      from counterfoil_receipt r join counterfoil_vault v on v.receipt = r.seq where r.seq = ?`)
    this.#receiptId = db.prepare('select id from counterfoil_receipt where seq = ?')
    this.#postponePlan = db.prepare(
      'update counterfoil_outbox set at = ?, worker = null, tries = tries + 1, last_error = ? where receipt = ?',
    )
    this.#postponeAlert = db.prepare(
      'update counterfoil_alert set at = ?, worker = null, tries = tries + 1, last_error = ? where seq = ?',
    )
    this.#consumePlan = db.prepare('delete from counterfoil_outbox where receipt = ?')
    this.#consumeAlert = db.prepare('delete from counterfoil_alert where seq = ?')
    this.#quarantined = db.prepare("update counterfoil_receipt set state = 'quarantined' where seq = ?")
  }

  claim({ worker, now, leaseMs, limit }: OutboxClaim): OutboxRecord[] {
    const alerts = this.#claimAlerts.all(now + leaseMs, worker, now, limit) as Record<string, any>[]
    const plans = this.#claimPlans.all(now + leaseMs, worker, now, limit - alerts.length) as {
      receipt: number
      tries: number
    }[]
    return [
      ...alerts.map((row): OutboxRecord => {
        const { reason, owner, receipt, quarantine, effect, raised_at: at } = row
        return {
          kind: 'alert',
          outbox: -row.seq,
          tries: row.tries,
          alert: { reason, owner, receipt, quarantine, effect, at },
        }
      }),
      ...plans.map(({ receipt, tries }): OutboxRecord => {
        const row = this.#plan.get(receipt) as Record<string, unknown>
        return { kind: 'plan', outbox: receipt, tries, receipt: toReceipt(row), payload: toSealed(row) }
      }),
    ]
  }

  /** @returns false when the record is not there any more */
  consume(outbox: number, receipt: ReceiptId): boolean {
    const row = this.#receiptId.get(outbox) as { id: string } | undefined
    return row?.id === receipt && this.#consumePlan.run(outbox).changes === 1
  }

  postpone({ outbox, at, error }: { outbox: number; at: number; error: string }): void {
    if (outbox < 0) this.#postponeAlert.run(at, error, -outbox)
    else this.#postponePlan.run(at, error, outbox)
  }

  quarantine({
    outbox,
    receipt,
    quarantine,
    at,
  }: {
    outbox: number
    receipt: ReceiptId
    quarantine: NewQuarantine
    at: number
  }): void {
    if (this.consume(outbox, receipt)) this.giveUp(outbox, quarantine, at)
  }

  /** The receipt of a consumed record goes to quarantine. */
  giveUp(outbox: number, quarantine: NewQuarantine, at: number): void {
    this.#quarantined.run(outbox)
    this.#counts.add('receipts.accepted', -1)
    this.#counts.add('receipts.quarantined', 1)
    this.#accept.quarantine(outbox, quarantine, at)
  }

  consumeAlert(outbox: number): void {
    if (this.#consumeAlert.run(-outbox).changes === 1) this.#counts.add('alerts', -1)
  }
}
