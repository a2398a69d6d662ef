import type { DatabaseSync } from 'node:sqlite'
import { assert, type RetentionStep } from '../../domain/index.ts'
import type { ForgetBatch, Forgotten, RetentionState } from '../store.ts'
import type { Counts } from './counts.ts'
import type { Markers } from './markers.ts'

type Row = Record<string, any>

/** Bytes of a receipt's and an effect's numbers and digests, beside its texts. */
const fixedBytes = 200

/** An effect that nothing more can come of, since `?1` at the latest. */
const doneEffect = `e.state in ('confirmed', 'refused', 'fenced', 'withdrawn') and e.disputed = 0 and e.changed_at <= ?1
  and not exists (select 1 from counterfoil_due w where w.effect = e.seq)
  and not exists (select 1 from counterfoil_cause c where c.effect = e.seq and c.at > ?1)`

/** A receipt that starts no work any more, and all of whose effects are done with. */
const doneReceipt = `(r.state = 'planned' and r.planned_at <= ?1 or r.state = 'quarantined' and exists
    (select 1 from counterfoil_quarantine q where q.receipt = r.seq and q.state = 'dismissed' and q.attended_at <= ?1))
  and not exists (select 1 from counterfoil_cause o join counterfoil_effect e on e.seq = o.effect
    where o.receipt = r.seq and not (${doneEffect}))`

/**
 * Retention, batch by batch. Each step walks a table that shrinks as it goes, from the oldest row on, and stops at
 * a batch that ends too young; so it costs what is to go and the few that have to stay, however long the history.
 * The newest row of a table never goes, or SQLite would give its number to another.
 */
export class Forget {
  readonly #db: DatabaseSync
  readonly #markers: Markers
  readonly #counts: Counts
  readonly #looks: Readonly<Record<RetentionStep, ReturnType<DatabaseSync['prepare']>>>
  readonly #take: Readonly<Record<RetentionStep, (row: Row) => void>>
  readonly #oldest

  constructor(db: DatabaseSync, markers: Markers, counts: Counts) {
    this.#db = db
    this.#markers = markers
    this.#counts = counts
    const deleting = (table: string, column: string) => db.prepare(`delete from ${table} where ${column} = ?`)
    const all = (...statements: ReturnType<typeof deleting>[]) => {
      return (seq: number) => {
        for (const statement of statements) statement.run(seq)
      }
    }
    const payload = all(deleting('counterfoil_vault', 'receipt'))
    const request = all(deleting('counterfoil_request', 'effect'))
    const receipt = all(
      db.prepare(
        'delete from counterfoil_quarantine_note where entry in (select seq from counterfoil_quarantine where receipt = ?)',
      ),
      deleting('counterfoil_quarantine', 'receipt'),
      deleting('counterfoil_cause', 'receipt'),
      deleting('counterfoil_vault', 'receipt'),
      deleting('counterfoil_receipt', 'seq'),
    )
    const effect = all(
      deleting('counterfoil_request', 'effect'),
      deleting('counterfoil_cause', 'effect'),
      deleting('counterfoil_attempt', 'effect'),
      deleting('counterfoil_evidence', 'effect'),
      deleting('counterfoil_in_flight', 'effect'),
      deleting('counterfoil_effect', 'seq'),
    )
    const receiptMarker = all(deleting('counterfoil_receipt_marker', 'seq'))
    const effectMarker = all(deleting('counterfoil_effect_marker', 'seq'))
    // Each by the primary key that it is ordered by, and the indexes of cause, quarantine and conflict.
    this.#looks = {
      payloads: db.prepare(`
        select v.receipt as place, v.receipt as seq, length(v.ciphertext) + length(v.nonce) as bytes, r.received_at > ?1 as young,
          r.received_at <= ?1 and ${doneReceipt} as done
        from counterfoil_vault v join counterfoil_receipt r on r.seq = v.receipt
        where v.receipt > ?2 order by v.receipt limit ?3`),
      requests: db.prepare(`
        select v.effect as place, v.effect as seq, length(v.ciphertext) + length(v.nonce) as bytes, e.planned_at > ?1 as young,
          e.planned_at <= ?1 and ${doneEffect} as done
        from counterfoil_request v join counterfoil_effect e on e.seq = v.effect
        where v.effect > ?2 order by v.effect limit ?3`),
      receipts: db.prepare(`
        select r.seq as place, r.seq, r.id, r.delivery, r.fingerprint, r.event_at, r.state, r.conflicts_with,
          ${fixedBytes} + length(r.event_id) + length(r.type) + length(r.producer) + length(r.source)
            + coalesce((select length(q.detail) from counterfoil_quarantine q where q.receipt = r.seq), 0)
            + coalesce((select length(v.ciphertext) from counterfoil_vault v where v.receipt = r.seq), 0) as bytes,
          r.received_at > ?1 as young, r.received_at <= ?1 and ${doneReceipt} and r.seq < (select max(seq) from counterfoil_receipt)
            and (r.conflicts_with is not null or not exists (select 1 from counterfoil_receipt x
              where x.delivery = r.delivery and x.conflicts_with is not null)) as done
        from counterfoil_receipt r where r.seq > ?2 order by r.seq limit ?3`),
      effects: db.prepare(`
        select e.seq as place, e.seq, e.id, e.recipient, e.key, e.fingerprint, e.changed_at, e.state, e.escalated,
          ${fixedBytes} + length(e.key) + length(e.name) + length(e.idempotency_key)
            + coalesce((select sum(100 + coalesce(length(a.why), 0)) from counterfoil_attempt a where a.effect = e.seq), 0)
            + coalesce((select sum(60 + length(v.why)) from counterfoil_evidence v where v.effect = e.seq), 0)
            + coalesce((select length(q.ciphertext) from counterfoil_request q where q.effect = e.seq), 0) as bytes,
          e.planned_at > ?1 as young, e.planned_at <= ?1 and ${doneEffect} and e.seq < (select max(seq) from counterfoil_effect) as done
        from counterfoil_effect e where e.seq > ?2 order by e.seq limit ?3`),
      'receipt-markers': db.prepare(`
        select event_at as place, seq, 32 + 8 + length(id) as bytes, 0 as young, 1 as done from counterfoil_receipt_marker
        where event_at < ?1 and (event_at, seq) > (?2, ?4) order by event_at, seq limit ?3`),
      'effect-markers': db.prepare(`
        select at as place, seq, 32 + 8 + length(id) as bytes, 0 as young, 1 as done from counterfoil_effect_marker
        where at < ?1 and (at, seq) > (?2, ?4) order by at, seq limit ?3`),
    }
    this.#take = {
      payloads: ({ seq }) => payload(seq),
      requests: ({ seq }) => request(seq),
      receipts: (row) => {
        // One that stood beside the first is known by the first one's marker.
        if (row.conflicts_with === null) {
          this.#markers.keepReceipt(row as Parameters<Markers['keepReceipt']>[0])
          counts.add('markers.receipts', 1)
        }
        receipt(row.seq)
        counts.add(`receipts.${row.state}`, -1)
      },
      effects: (row) => {
        this.#markers.keepEffect(row as Parameters<Markers['keepEffect']>[0])
        effect(row.seq)
        counts.add('markers.effects', 1)
        counts.add(`effects.${row.state}`, -1)
        counts.add('escalated', -row.escalated)
      },
      'receipt-markers': ({ seq }) => {
        receiptMarker(seq)
        counts.add('markers.receipts', -1)
      },
      'effect-markers': ({ seq }) => {
        effectMarker(seq)
        counts.add('markers.effects', -1)
      },
    }
    this.#oldest = db.prepare(`
      select (select r.received_at from counterfoil_receipt r where r.seq = (select min(receipt) from counterfoil_vault)) as payload_at,
        (select received_at from counterfoil_receipt where seq = (select min(seq) from counterfoil_receipt)) as receipt_at`)
  }

  forget({ step, until, after = [-1e15, 0], limit, dryRun = false }: ForgetBatch): Forgotten {
    const [place, seq] = after
    const isMarkers = step === 'receipt-markers' || step === 'effect-markers'
    const asked = isMarkers ? [until, place, limit, seq] : [until, place, limit]
    const rows = this.#looks[step].all(...asked) as Row[]
    const going = rows.filter(({ done }) => done === 1)
    if (!dryRun) {
      if (step === 'receipts' || step === 'effects') this.#markers.required()
      // With the boundary first: a reader sees the markers, or that their time is closed.
      if (step === 'receipt-markers') this.#markers.close(until)
      this.#destroying(() => going.forEach(this.#take[step]))
    }
    const last = rows.at(-1)
    return {
      count: going.length,
      bytes: going.reduce((sum, { bytes }) => sum + bytes, 0),
      next: rows.length < limit || last === undefined || last.young === 1 ? null : [last.place, last.seq],
    }
  }

  state(): RetentionState {
    const totals = this.#counts.read()
    const { boundary } = this.#markers.state()
    const pragma = (name: string) =>
      (this.#db.prepare(`pragma ${name}`).get() as Record<string, number>)[name]!
    const { payload_at: payloadAt, receipt_at: receiptAt } = this.#oldest.get() as Row
    const pageBytes = pragma('page_size')
    return {
      boundary: boundary === 0 ? null : boundary,
      markers: { receipts: totals.get('markers.receipts') ?? 0, effects: totals.get('markers.effects') ?? 0 },
      oldest: { payloadAt, receiptAt },
      size: { bytes: pageBytes * pragma('page_count'), freeBytes: pageBytes * pragma('freelist_count') },
    }
  }

  /** What is deleted is overwritten with zeros (sqlite.org/pragma.html#pragma_secure_delete). */
  #destroying(work: () => void): void {
    destroying(this.#db, work)
  }
}

/** Deletes so that the bytes are gone from the file, not only from the table. */
export function destroying<Value>(db: DatabaseSync, work: () => Value): Value {
  assert(db.isTransaction, 'rows are destroyed in a transaction')
  db.exec('pragma secure_delete = on')
  try {
    return work()
  } finally {
    db.exec('pragma secure_delete = off')
  }
}
