import {
  afterChunk,
  type BackfillRow,
  backfillValues,
  decidedOn,
  isTurnOf,
  leasedTo,
  leftBy,
  plannedAnew,
  toBackfill,
  toChunk,
  viewOf,
} from '../backfill-moves.ts'
import type {
  BackfillChunk,
  BackfillDecided,
  BackfillDecision,
  BackfillLease,
  BackfillPlanned,
  BackfillView,
  DeliveryKnown,
  DeliveryQuestion,
  NewBackfill,
} from '../backfills.ts'
import { deliveryBytes, deliveryToBytes, fingerprintBytes, fingerprintToBytes } from '../digest.ts'
import { type Marking, markerBytes } from '../marking.ts'
import type { Acceptance, Accepted, ChunkAcceptance, ChunkAccepted, SqlValue, Store } from '../store.ts'
import type { AuditLog } from './audit.ts'
import { Block, numbers, texts } from './columns.ts'
import type { Run } from './connection.ts'
import type { Marks } from './marks.ts'
import { quoted, type Statement } from './statement.ts'
import { nowSql, type Timekeeper } from './time.ts'

interface Held {
  readonly row: BackfillRow | null
  /** By the store's clock. */
  readonly now: number
}

/** Backfills: few rows, and the moves of store/backfills.ts on them, each in the transaction that `run` runs in. */
export class Backfills {
  readonly #audit: AuditLog
  readonly #time: Timekeeper
  readonly #statements

  constructor(schema: string, audit: AuditLog, time: Timekeeper) {
    this.#audit = audit
    this.#time = time
    this.#statements = backfillStatements(schema)
  }

  async plan(given: NewBackfill, run: Run): Promise<BackfillPlanned> {
    await run(this.#statements.alone, [given.name])
    const { row: known } = await this.#hold(given.name, given.plan.at, run)
    const row = plannedAnew(given, known)
    if (row === null) return { kind: 'refused', backfill: viewOf(known!) }
    await this.#write(row, run)
    await run(this.#statements.forget, [given.name])
    const { chunks } = given
    await run(this.#statements.addChunks, [
      given.name,
      numbers(chunks.map(({ number }) => number)),
      numbers(chunks.map(({ at }) => at)),
      numbers(chunks.map(({ before }) => before)),
      numbers(chunks.map(({ items }) => items)),
      texts(chunks.map(({ digest }) => digest)),
    ])
    return { kind: 'planned', backfill: viewOf(row) }
  }

  async decide(decision: BackfillDecision, run: Run): Promise<BackfillDecided> {
    const { row } = await this.#hold(decision.name, decision.audit.at, run)
    const made = await this.#audit.made(decision.audit, run)
    if (made?.kind === 'other') return made
    if (made !== null && row !== null) return { kind: 'decided', backfill: viewOf(row), repeated: true }
    const next = row === null ? null : decidedOn(row, decision)
    if (next === null) return { kind: 'refused', backfill: row && viewOf(row) }
    await this.#audit.append({ ...decision.audit, result: { state: next.state, version: next.version } }, run)
    await this.#write(next, run)
    return { kind: 'decided', backfill: viewOf(next), repeated: false }
  }

  async lease(lease: BackfillLease, run: Run): Promise<BackfillView | null> {
    const { row, now } = await this.#hold(lease.name, lease.now, run)
    const next = row && leasedTo(row, lease, now)
    if (next === null) return null
    await this.#write(next, run)
    return viewOf(next)
  }

  async acceptChunk(
    chunk: ChunkAcceptance,
    accept: (entries: readonly Acceptance[]) => Promise<Accepted[]>,
    run: Run,
  ): Promise<ChunkAccepted> {
    const { row, now } = await this.#hold(chunk.name, chunk.now, run)
    if (row === null || !isTurnOf(row, chunk)) return { kind: 'lost', backfill: row && viewOf(row) }
    const next = afterChunk(row, chunk, await accept(chunk.entries), now)
    await this.#write(next, run)
    return { kind: 'taken', backfill: viewOf(next) }
  }

  async leave(leave: Parameters<Store['leaveBackfill']>[0], run: Run): Promise<void> {
    const { row } = await this.#hold(leave.name, leave.at, run)
    const next = row && leftBy(row, leave)
    if (next !== null) await this.#write(next, run)
  }

  async list(run: Run): Promise<BackfillView[]> {
    return (await run(this.#statements.all, [])).map((row) => viewOf(toBackfill(row)))
  }

  async show(name: string, run: Run): Promise<BackfillView | null> {
    const [row] = await run(this.#statements.one, [name])
    return row === undefined ? null : viewOf(toBackfill(row))
  }

  async chunks(
    { name, from, limit }: Parameters<Store['backfillChunks']>[0],
    run: Run,
  ): Promise<BackfillChunk[]> {
    return (await run(this.#statements.chunks, [name, from, limit])).map(toChunk)
  }

  async known(questions: readonly DeliveryQuestion[], marks: Marks, run: Run): Promise<DeliveryKnown[]> {
    const rows = await marks.run(
      this.#statements.known,
      (marking) => knownParameters(questions, marking),
      run,
    )
    return rows.map(({ known }) => known as DeliveryKnown)
  }

  /** The row, locked until the transaction ends. */
  async #hold(name: string, callers: number, run: Run): Promise<Held> {
    const [found] = await run(this.#statements.hold, [name, this.#time.now(callers)])
    if (found === undefined) return { row: null, now: callers }
    const { now, ...row } = found
    return { row: toBackfill(row), now }
  }

  async #write(row: BackfillRow, run: Run): Promise<void> {
    await run(this.#statements.keep, backfillValues(row))
  }
}

/** Bytes of the two that stand before the markers. */
const digests = deliveryBytes + fingerprintBytes

/** @param marking null while there are no markers */
function knownParameters(questions: readonly DeliveryQuestion[], marking: Marking | null): SqlValue[] {
  const block = new Block()
  const at = questions.map((question) => {
    const delivery = deliveryToBytes(question.delivery)
    const fingerprint = fingerprintToBytes(question.fingerprint)
    const begins = block.add(delivery)
    block.add(fingerprint)
    if (marking !== null) {
      const marker = marking.receipt(delivery, fingerprint)
      block.add(marker.digest)
      block.add(marker.content)
    }
    return begins
  })
  const ids = texts(questions.map(({ eventId }) => eventId))
  return [ids, numbers(at), block.toBytes(), String(marking !== null)]
}

export function backfillStatements(schema: string) {
  const s = quoted(schema)
  const statement = (name: string, text: string, writes = false): Statement => ({
    name: `counterfoil_backfill_${name}`,
    writes,
    text,
  })
  const columns = 'name, state, version::float8, plan, run, worker, lease_until::float8'
  return {
    // Who plans a name that has no row yet.
    alone: statement(
      'alone',
      "select pg_advisory_xact_lock(hashtextextended('counterfoil backfill ' || $1::text, 0))",
    ),
    hold: statement(
      'hold',
      `select ${columns}, ${nowSql('$2::bigint')}::float8 as now from ${s}.backfill where name = $1::text for update`,
    ),
    one: statement('one', `select ${columns} from ${s}.backfill where name = $1::text`),
    all: statement('all', `select ${columns} from ${s}.backfill order by name`),
    keep: statement(
      'keep',
      `insert into ${s}.backfill (name, state, version, plan, run, worker, lease_until)
       values ($1::text, $2::text, $3::bigint, $4::text, $5::text, $6::text, $7::bigint)
       on conflict (name) do update set state = excluded.state, version = excluded.version, plan = excluded.plan,
         run = excluded.run, worker = excluded.worker, lease_until = excluded.lease_until`,
      true,
    ),
    forget: statement('forget', `delete from ${s}.backfill_chunk where backfill = $1::text`, true),
    addChunks: statement(
      'add_chunks',
      `insert into ${s}.backfill_chunk (backfill, number, at, before, items, digest)
       select $1::text, number, at, before, items, decode(digest, 'hex')
       from unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::int[], $6::text[]) as c(number, at, before, items, digest)`,
      true,
    ),
    chunks: statement(
      'chunks',
      `select number::float8, at::float8, before::float8, items, digest from ${s}.backfill_chunk c
       where backfill = $1::text and c.number >= $2::bigint order by c.number limit $3::int`,
    ),
    // receipt_first, receipt_conflict, a marker's digest: one probe each.
    known: statement(
      'known',
      `with given as materialized (
         select g.*, substring($3::bytea from g.at for ${deliveryBytes}) as delivery,
           substring($3::bytea from g.at + ${deliveryBytes} for ${fingerprintBytes}) as fingerprint,
           case when $4::boolean then substring($3::bytea from g.at + ${digests} for ${markerBytes}) end as marker,
           case when $4::boolean then substring($3::bytea from g.at + ${digests + markerBytes} for ${markerBytes}) end as marker_content,
           not $4::boolean and (select marked from ${s}.retention where one = 1) is true as is_unmarked
         from unnest($1::text[], $2::int[]) with ordinality as g(event_id, at, n)
       )
       select f.fingerprint is null and g.is_unmarked as unmarked,
         case when f.fingerprint is null and m.content is null then 'new'
           when coalesce(f.fingerprint = g.fingerprint, m.content = g.marker_content) or a.seq is not null then 'duplicate'
           else 'conflicting' end as known
       from given g
       left join lateral (select r.fingerprint from ${s}.receipt r where r.event_id = g.event_id and r.delivery = g.delivery
         and r.conflicts_with is null limit 1) f on true
       left join lateral (select x.content from ${s}.receipt_marker x where $4::boolean and x.digest = g.marker limit 1) m on true
       left join lateral (select r.seq from ${s}.receipt r where r.delivery = g.delivery and r.fingerprint = g.fingerprint
         and r.conflicts_with is not null limit 1) a on true
       order by g.n`,
    ),
  }
}
