import type { EffectView } from '../records.ts'
import { toQuarantine, toReceipt } from '../rows.ts'
import { beginningWith, fingerprintRanges, fingerprintReach } from '../search-bounds.ts'
import type { EffectKeyQuery, Found, FoundBy, SearchQuery } from '../store.ts'
import { storable } from './columns.ts'
import type { Row, Run } from './connection.ts'
import type { Reading } from './read.ts'
import { quarantineColumns, receiptColumns } from './rows.ts'
import { quoted, type Statement } from './statement.ts'

/** Records by any name that an operator may hold in hand: each name by its index, for a bounded number of rows. */
export class Search {
  readonly #run: Run
  readonly #reading: Reading
  readonly #statements

  constructor(schema: string, reading: Reading, run: Run) {
    this.#run = run
    this.#reading = reading
    this.#statements = searchStatements(schema)
  }

  async effectsByKey({ prefix, after, limit }: EffectKeyQuery): Promise<EffectView[]> {
    const range = beginningWith(storable(prefix))
    const from = [after?.key ?? '', after?.recipient ?? '']
    const rows = await this.#run(this.#statements.byKey, [...range, ...from, limit])
    const views = await this.#reading.effects(rows.map(({ id }) => id))
    return rows.map(({ id }) => views.get(id) as EffectView)
  }

  async search({ text: given, limit }: SearchQuery): Promise<Found> {
    const text = storable(given)
    const { receipts, effects, quarantine, receiptsPrinted, effectsPrinted } = this.#statements
    const names = [...beginningWith(text), limit]
    const printed = (statement: Statement) =>
      (fingerprintRanges(text) ?? []).map(([first, last]) => this.#run(statement, [first, last, limit]))
    const [named, entries, called, ...ranges] = await Promise.all([
      this.#run(receipts, names),
      this.#run(quarantine, names),
      this.#run(effects, names),
      ...printed(receiptsPrinted),
    ])
    const effectRanges = await Promise.all(printed(effectsPrinted))
    const found = once([...called, ...effectRanges.flat()])
    const views = await this.#reading.effects(found.map(({ id }) => id))
    return {
      receipts: once([...named, ...ranges.flat()]).map((row) => ({
        ...toReceipt(row),
        by: row.by as FoundBy,
      })),
      effects: found.map(({ id, by }) => ({ ...(views.get(id) as EffectView), by })),
      quarantine: entries.map(toQuarantine),
    }
  }
}

/** Each record once, by the first of its names. */
function once(rows: readonly Row[]): Row[] {
  return [...new Map(rows.toReversed().map((row) => [row.id as string, row])).values()].reverse()
}

export function searchStatements(schema: string) {
  const s = quoted(schema)
  const reads = (name: string, text: string): Statement => ({
    name: `counterfoil_search_${name}`,
    writes: false,
    text,
  })
  const receipts = (ways: string) => `
select h.by, h.n, ${receiptColumns(s)} from (${ways}) h join ${s}.receipt r on r.seq = h.seq order by h.n, h.place`
  const newest = (table: string) =>
    `(select seq, fingerprint from ${s}.${table} t order by t.seq desc limit ${fingerprintReach}) t
     where fingerprint between $1::bytea and $2::bytea limit $3::int`
  return {
    // The unique index of id; receipt_first; receipt_first, then receipt_conflict.
    receipts: reads(
      'receipts',
      receipts(`
  (select seq, id as place, 'id' as by, 1 as n from ${s}.receipt where id >= $1::text and id <= $2::text order by id limit $3::int)
  union all
  (select seq, event_id, 'event-id', 2 from ${s}.receipt where event_id >= $1::text and event_id <= $2::text and conflicts_with is null
   order by event_id limit $3::int)
  union all
  (select c.seq, c.id, 'event-id', 3 from ${s}.receipt f
   cross join lateral (select seq, id from ${s}.receipt where delivery = f.delivery and conflicts_with is not null limit $3::int) c
   where f.event_id = $1::text and f.conflicts_with is null limit $3::int)`),
    ),
    // The primary key, for a bounded way.
    receiptsPrinted: reads(
      'receipts_printed',
      receipts(`select seq, '' as place, 'fingerprint' as by, 4 as n from ${newest('receipt')}`),
    ),
    // The unique index of id; effect_key; effect_idempotency; attempt_correlation; evidence_correlation.
    effects: reads(
      'effects',
      `select e.id, h.by from (
  (select seq, id as place, 'id' as by, 1 as n from ${s}.effect where id >= $1::text and id <= $2::text order by id limit $3::int)
  union all
  (select seq, key, 'key', 2 from ${s}.effect where key >= $1::text and key <= $2::text order by key limit $3::int)
  union all
  (select seq, '', 'idempotency-key', 3 from ${s}.effect
   where hashtextextended(idempotency_key, 0) = hashtextextended($1::text, 0) and idempotency_key = $1::text limit $3::int)
  union all
  (select effect, '', 'correlation', 4 from ${s}.attempt where correlation is not null
   and hashtextextended(correlation, 0) = hashtextextended($1::text, 0) and correlation = $1::text limit $3::int)
  union all
  (select effect, '', 'correlation', 5 from ${s}.evidence where correlation is not null
   and hashtextextended(correlation, 0) = hashtextextended($1::text, 0) and correlation = $1::text limit $3::int)
) h join ${s}.effect e on e.seq = h.seq order by h.n, h.place`,
    ),
    effectsPrinted: reads(
      'effects_printed',
      `select e.id, 'fingerprint' as by from (select seq from ${newest('effect')}) h join ${s}.effect e on e.seq = h.seq`,
    ),
    // effect_key
    byKey: reads(
      'by_key',
      `select id from ${s}.effect where key >= $1::text and key <= $2::text and (key, recipient) > ($3::text, $4::text)
       order by key, recipient limit $5::int`,
    ),
    // The unique index of id.
    quarantine: reads(
      'quarantine',
      `select ${quarantineColumns(s)} from ${s}.quarantine q where q.id >= $1::text and q.id <= $2::text order by q.id limit $3::int`,
    ),
  }
}
