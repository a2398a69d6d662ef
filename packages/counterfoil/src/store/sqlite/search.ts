import type { DatabaseSync } from 'node:sqlite'
import type { EffectView } from '../records.ts'
import { toQuarantine, toReceipt } from '../rows.ts'
import { beginningWith, fingerprintRanges, fingerprintReach } from '../search-bounds.ts'
import type { EffectKeyQuery, Found, FoundBy, SearchQuery } from '../store.ts'
import type { Reading } from './read.ts'
import { quarantineColumns, receiptColumns } from './rows.ts'

type Row = Record<string, any>
/** One kind of name. */
interface Way {
  readonly by: FoundBy
  find(text: string, limit: number): Row[]
}

/** Records by any name that an operator may hold in hand: each name by its index, for a bounded number of rows. */
export class Search {
  readonly #reading: Reading
  readonly #receipts: readonly Way[]
  readonly #effects: readonly Way[]
  readonly #byKey
  readonly #quarantine

  constructor(db: DatabaseSync, reading: Reading) {
    this.#reading = reading
    const beginning = (by: FoundBy, sql: string): Way => {
      const statement = db.prepare(sql)
      return { by, find: (text, limit) => statement.all(...beginningWith(text), limit) }
    }
    const exact = (by: FoundBy, sql: string): Way => {
      const statement = db.prepare(sql)
      return { by, find: (text, limit) => statement.all(text, limit) }
    }
    const fingerprint = (sql: string): Way => {
      const statement = db.prepare(sql)
      return {
        by: 'fingerprint',
        find: (text, limit) =>
          (fingerprintRanges(text) ?? []).flatMap(([first, last]) => statement.all(first, last, limit)),
      }
    }
    const receipt = `select ${receiptColumns} from counterfoil_receipt r where`
    this.#receipts = [
      // The unique index of id.
      beginning('id', `${receipt} r.id >= ? and r.id <= ? order by r.id limit ?`),
      // counterfoil_receipt_first
      beginning(
        'event-id',
        `${receipt} r.event_id >= ? and r.event_id <= ? and r.conflicts_with is null order by r.event_id limit ?`,
      ),
      // counterfoil_receipt_first, then counterfoil_receipt_conflict
      exact(
        'event-id',
        `${receipt} r.conflicts_with is not null and r.delivery in
           (select delivery from counterfoil_receipt where event_id = ? and conflicts_with is null) limit ?`,
      ),
      fingerprint(
        `${receipt} r.seq in (select seq from
           (select seq, fingerprint from counterfoil_receipt order by seq desc limit ${fingerprintReach})
           where fingerprint between ? and ? limit ?)`,
      ),
    ]
    const effect = 'select seq from counterfoil_effect where'
    this.#effects = [
      // The unique index of id.
      beginning('id', `${effect} id >= ? and id <= ? order by id limit ?`),
      // counterfoil_effect_key
      beginning('key', `${effect} key >= ? and key <= ? order by key limit ?`),
      // counterfoil_effect_idempotency
      exact('idempotency-key', `${effect} idempotency_key = ? limit ?`),
      // counterfoil_attempt_correlation, counterfoil_evidence_correlation
      exact('correlation', 'select effect as seq from counterfoil_attempt where correlation = ? limit ?'),
      exact('correlation', 'select effect as seq from counterfoil_evidence where correlation = ? limit ?'),
      fingerprint(
        `select seq from (select seq, fingerprint from counterfoil_effect order by seq desc limit ${fingerprintReach})
         where fingerprint between ? and ? limit ?`,
      ),
    ]
    // counterfoil_effect_key
    this.#byKey = db.prepare(
      `${effect} key >= ? and key <= ? and (key, recipient) > (?, ?) order by key, recipient limit ?`,
    )
    // The unique index of id.
    this.#quarantine = db.prepare(
      `select ${quarantineColumns} from counterfoil_quarantine q where q.id >= ? and q.id <= ? order by q.id limit ?`,
    )
  }

  effectsByKey({ prefix, after, limit }: EffectKeyQuery): EffectView[] {
    const from = [after?.key ?? '', after?.recipient ?? '']
    const rows = this.#byKey.all(...beginningWith(prefix), ...from, limit) as Row[]
    return rows.map(({ seq }) => this.#reading.effectBySeq(seq))
  }

  search({ text, limit }: SearchQuery): Found {
    return {
      receipts: found(this.#receipts, text, limit).map(({ by, row }) => ({ ...toReceipt(row), by })),
      effects: found(this.#effects, text, limit).map(({ by, row }) => ({
        ...this.#reading.effectBySeq(row.seq),
        by,
      })),
      quarantine: this.#quarantine.all(...beginningWith(text), limit).map(toQuarantine),
    }
  }
}

/** Each record once, by the first of its names. */
function found(ways: readonly Way[], text: string, limit: number): { by: FoundBy; row: Row }[] {
  const bySeq = new Map<number, { by: FoundBy; row: Row }>()
  for (const { by, find } of ways) {
    for (const row of find(text, limit)) if (!bySeq.has(row.seq)) bySeq.set(row.seq, { by, row })
  }
  return [...bySeq.values()]
}
