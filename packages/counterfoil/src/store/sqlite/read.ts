import type { DatabaseSync } from 'node:sqlite'
import {
  type EffectId,
  type EffectState,
  effectStates,
  isFinalState,
  type ReceiptId,
} from '../../domain/index.ts'
import type { CauseView, EffectView, ReceiptView, Sealed } from '../records.ts'
import { effectView, toAttempt, toEvidence, toReceipt } from '../rows.ts'
import type { EffectQuery, EffectStory, ReceiptQuery, ReceiptStory, Store, StoreStatus } from '../store.ts'
import type { Counts } from './counts.ts'
import type { QuarantineList } from './quarantine-list.ts'
import { effectColumns, receiptColumns, toSealed } from './rows.ts'

type Row = Record<string, any>

const maxRow = Number.MAX_SAFE_INTEGER

/** What may be asked of the store. Lists walk a primary key downward; totals are kept, not counted. */
export class Reading {
  readonly #counts: Counts
  readonly #quarantine: QuarantineList
  readonly #effect
  readonly #attempts
  readonly #evidence
  readonly #receipts
  readonly #endOfWalk
  readonly #acceptedReceipts
  readonly #quarantinedReceipts
  readonly #receipt
  readonly #effectsOf
  readonly #effects
  readonly #effectsInState
  readonly #effectsOfRecipient
  readonly #effectsEnded
  readonly #confirmed
  readonly #byName
  readonly #causes
  readonly #vault
  readonly #request
  readonly #waiting
  readonly #schema

  constructor(db: DatabaseSync, quarantine: QuarantineList, counts: Counts) {
    this.#counts = counts
    this.#quarantine = quarantine
    const effect = `select ${effectColumns} from counterfoil_effect e left join counterfoil_due d on d.effect = e.seq`
    const receipt = `select ${receiptColumns} from counterfoil_receipt r`
    const before = (table: string) => `coalesce((select seq from ${table} where id = ?), ${maxRow})`
    this.#effect = db.prepare(`${effect} where e.seq = ?`)
    this.#attempts = db.prepare('select * from counterfoil_attempt where effect = ? order by number')
    this.#evidence = db.prepare('select * from counterfoil_evidence where effect = ? order by seq')
    const newest =
      'coalesce((select seq from counterfoil_receipt where id = ?1), (select max(seq) + 1 from counterfoil_receipt))'
    this.#receipts = db.prepare(`
      ${receipt} where r.seq < ${newest} and r.seq >= ${newest} - coalesce(?5, ${newest})
      and (?2 is null or r.producer = ?2) and (?3 is null or r.state = ?3) order by r.seq desc limit ?4`)
    this.#endOfWalk = db.prepare(`
      select id from counterfoil_receipt where seq >= ${newest} - ?2 and seq < ${newest} order by seq limit 1`)
    // The few that are not planned are found from where they wait.
    const receiptsIn = (
      table: string,
      those = 'true',
    ) => `select ${receiptColumns} from ${table} w join counterfoil_receipt r on r.seq = w.receipt
      where ${those} and w.receipt < ${before('counterfoil_receipt')} and (?2 is null or r.producer = ?2) order by w.receipt desc limit ?3`
    this.#acceptedReceipts = db.prepare(receiptsIn('counterfoil_outbox'))
    this.#quarantinedReceipts = db.prepare(receiptsIn('counterfoil_quarantine', "w.state <> 'released'"))
    this.#receipt = db.prepare(`${receipt} where r.id = ?`)
    // counterfoil_cause_receipt
    this.#effectsOf = db.prepare(`
      select distinct e.id, e.recipient, e.key, e.state from counterfoil_cause c join counterfoil_effect e on e.seq = c.effect
      where c.receipt = (select seq from counterfoil_receipt where id = ?) order by e.seq`)
    const beforeEffect = before('counterfoil_effect')
    this.#effects = db.prepare(`
      ${effect} where e.seq < ${beforeEffect} and ?2 is null and ?3 is null order by e.seq desc limit ?4`)
    // counterfoil_effect_state: the few that are not confirmed, however many are.
    this.#effectsInState = db.prepare(`
      ${effect} where e.seq < ${beforeEffect} and (?2 is null or e.recipient = ?2) and e.state = ?3
      and e.state <> 'confirmed' order by e.seq desc limit ?4`)
    // counterfoil_effect_recipient
    this.#effectsOfRecipient = db.prepare(`
      ${effect} where e.seq < ${beforeEffect} and e.recipient = ?2 and ?3 is null order by e.seq desc limit ?4`)
    // counterfoil_effect_ended
    this.#effectsEnded = db.prepare(`
      ${effect} where e.seq < ${beforeEffect} and e.recipient = ?2 and e.state = ?3
      and e.state in ('refused', 'fenced', 'withdrawn') order by e.seq desc limit ?4`)
    // The primary key, counterfoil_effect_recipient: nearly all, so no index is kept of them.
    const walk = (those: string) =>
      `from counterfoil_effect where seq < ${beforeEffect} and ${those} order by seq desc`
    const confirmed = (those: string) => ({
      page: db.prepare(`
        select ${effectColumns} from (select seq ${walk(those)} limit coalesce(?4, -1)) w
          cross join counterfoil_effect e on e.seq = w.seq left join counterfoil_due d on d.effect = e.seq
        where e.state = 'confirmed' order by w.seq desc limit ?3`),
      end: db.prepare(`select id ${walk(those)} limit 1 offset ?3 - 1`),
    })
    this.#confirmed = { all: confirmed('?2 is null'), of: confirmed('recipient = ?2') }
    // The unique index of id, counterfoil_effect_key, counterfoil_effect_idempotency.
    this.#byName = db.prepare(
      `${effect} where e.id = ?1 or e.key = ?1 or e.idempotency_key = ?1 order by e.seq`,
    )
    this.#causes = db.prepare(`
      select r.id, r.producer, r.event_id, r.type, c.trigger, c.at from counterfoil_cause c join counterfoil_receipt r on r.seq = c.receipt
      where c.effect = (select seq from counterfoil_effect where id = ?) order by c.at, c.receipt`)
    this.#vault = db.prepare('select key_id, nonce, ciphertext from counterfoil_vault where receipt = ?')
    // The unique index of counterfoil_effect.id.
    this.#request = db.prepare(`
      select key_id, nonce, ciphertext from counterfoil_request where effect = (select seq from counterfoil_effect where id = ?)`)
    // The least primary key of either: the oldest, however often it was leased.
    this.#waiting = db.prepare(`
      select min(at) as at from (
        select received_at as at from counterfoil_receipt where seq = (select min(receipt) from counterfoil_outbox)
        union all select raised_at from counterfoil_alert where seq = (select min(seq) from counterfoil_alert))`)
    this.#schema = db.prepare('select max(version) as version from counterfoil_migration')
  }

  effectBySeq(seq: number): EffectView {
    return this.#view(this.#effect.get(seq) as Row)
  }

  listReceipts({ limit, before, producer, state, within }: ReceiptQuery): ReceiptView[] {
    const page = before ?? null
    const of = producer ?? null
    if (state === 'accepted') return this.#acceptedReceipts.all(page, of, limit).map(toReceipt)
    if (state === 'quarantined') return this.#quarantinedReceipts.all(page, of, limit).map(toReceipt)
    return this.#receipts.all(page, of, state ?? null, limit, within ?? null).map(toReceipt)
  }

  endOfWalk({ before, within }: { before?: string; within: number }): ReceiptId | null {
    const row = this.#endOfWalk.get(before ?? null, within) as { id: ReceiptId } | undefined
    return row?.id ?? null
  }

  showReceipt(id: string): ReceiptStory | null {
    const row = this.#receipt.get(id)
    if (row === undefined) return null
    return {
      receipt: toReceipt(row),
      quarantine: this.#quarantine.ofReceipt(id),
      effects: this.#effectsOf.all(id) as unknown as ReceiptStory['effects'],
    }
  }

  listEffects({ limit, before, recipient, state, within }: EffectQuery): EffectView[] {
    const page = [before ?? null, recipient ?? null] as const
    if (state === 'confirmed') {
      const { page: list } = recipient === undefined ? this.#confirmed.all : this.#confirmed.of
      return list.all(...page, limit, within ?? null).map((row) => this.#view(row))
    }
    return this.#listOf(recipient, state)
      .all(...page, state ?? null, limit)
      .map((row) => this.#view(row))
  }

  #listOf(recipient: string | undefined, state: EffectState | undefined) {
    if (state === undefined) return recipient === undefined ? this.#effects : this.#effectsOfRecipient
    return recipient !== undefined && isFinalState(state) ? this.#effectsEnded : this.#effectsInState
  }

  endOfEffects({ before, recipient, within }: Parameters<Store['endOfEffects']>[0]): EffectId | null {
    const { end } = recipient === undefined ? this.#confirmed.all : this.#confirmed.of
    const row = end.get(before ?? null, recipient ?? null, within) as { id: EffectId } | undefined
    return row?.id ?? null
  }

  showEffects(name: string): EffectStory[] {
    return this.#byName.all(name).map((row) => {
      const effect = this.#view(row)
      const causes = (this.#causes.all(effect.id) as Row[]).map(
        (cause): CauseView => ({
          receipt: cause.id,
          producer: cause.producer,
          eventId: cause.event_id,
          type: cause.type,
          trigger: cause.trigger,
          at: cause.at,
        }),
      )
      return { effect, causes }
    })
  }

  readVault(ref: string): Sealed | null {
    const [, receipt] = /^vault\/([0-9]{1,15})$/.exec(ref) ?? []
    const row = receipt === undefined ? undefined : this.#vault.get(Number(receipt))
    return row === undefined ? null : toSealed(row)
  }

  readRequest(effect: string): Sealed | null {
    const row = this.#request.get(effect)
    return row === undefined ? null : toSealed(row)
  }

  status(): StoreStatus {
    const totals = this.#counts.read()
    const total = (name: string) => totals.get(name) ?? 0
    const { at } = this.#waiting.get() as { at: number | null }
    const { version } = this.#schema.get() as { version: number }
    const receipts = {
      accepted: total('receipts.accepted'),
      planned: total('receipts.planned'),
      quarantined: total('receipts.quarantined'),
    }
    const effects = Object.fromEntries(
      effectStates.map((state) => [state, total(`effects.${state}`)]),
    ) as Record<EffectState, number>
    return {
      schema: version,
      receipts: {
        total: receipts.accepted + receipts.planned + receipts.quarantined,
        duplicates: total('duplicates'),
        byState: receipts,
      },
      // Every receipt that is merely accepted has its outbox record.
      outbox: { waiting: receipts.accepted + total('alerts'), oldestAt: at },
      quarantine: total('quarantine'),
      effects: {
        total: Object.values(effects).reduce((sum, count) => sum + count, 0),
        byState: effects,
        disputed: total('disputed'),
        escalated: total('escalated'),
      },
    }
  }

  #view(row: Row): EffectView {
    return effectView(
      row,
      row.due_at,
      this.#attempts.all(row.seq).map(toAttempt),
      this.#evidence.all(row.seq).map(toEvidence),
    )
  }
}
