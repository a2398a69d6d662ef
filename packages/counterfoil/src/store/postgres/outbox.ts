import type { Instant } from '../../domain/index.ts'
import { suspect } from '../records.ts'
import { toReceipt } from '../rows.ts'
import type { NewQuarantine, OutboxClaim, OutboxRecord, OutboxRenewal, SqlValue } from '../store.ts'
import type { Row } from './connection.ts'
import { enterQuarantine } from './quarantine-return.ts'
import { receiptColumns, toSealed } from './rows.ts'
import { keyed, quoted, type Statement } from './statement.ts'
import { nowSql, type Timekeeper } from './time.ts'

/** An outbox number names a plan when positive (its receipt's seq) and an alert when negative. */

/**
 * Claims by outbox_at and alert_at, by state and time and never by "greater than the last seen". Every producer
 * that waits has its share of the room, so that a million deliveries of one do not hold up another; what a
 * share leaves is taken by the next claim, which `filled` announces. What a backfill brought takes what is left. Alerts take half of the room at most.
 */
export function claimStatement(schema: string): Statement {
  const s = quoted(schema)
  return {
    name: 'counterfoil_claim',
    writes: true,
    text: `
with recursive clock as materialized (select ${nowSql('$1::bigint')} as now),
waiting(producer) as (
  (select producer from ${s}.outbox where lane = 0 order by producer limit 1)
  union all
  select (select o.producer from ${s}.outbox o where o.lane = 0 and o.producer > w.producer order by o.producer limit 1)
  from waiting w where w.producer is not null
),
picked_alerts as materialized (
  select seq from ${s}.alert where at <= (select now from clock) order by at limit ($4::int + 1) / 2 for update skip locked
),
alerts as (
  update ${s}.alert a set at = (select now from clock) + $3::bigint, worker = $2::text
  where ${keyed('a.seq', 'picked_alerts', 'seq')}
  returning a.seq, a.tries, a.reason, a.owner, a.receipt, a.quarantine, a.effect, a.occasion, a.raised_at
),
room as materialized (select $4::int - (select count(*) from alerts) as size),
share as materialized (
  select ceil((select size from room)::numeric / greatest(count(*), 1))::int as size from waiting where producer is not null
),
picked as materialized (
  select o.receipt from waiting w cross join lateral (
    select x.receipt from ${s}.outbox x where x.lane = 0 and x.producer = w.producer and x.at <= (select now from clock)
    order by x.at limit (select size from share) for update skip locked) o
  limit (select size from room)
),
-- outbox_behind
behind as materialized (
  select receipt from ${s}.outbox where lane = 1 and at <= (select now from clock) order by at
  limit (select size - (select count(*) from picked) from room) for update skip locked
),
chosen as materialized (select receipt from picked union all select receipt from behind),
plans as (
  update ${s}.outbox o set at = (select now from clock) + $3::bigint, worker = $2::text, lost = o.lost + (o.worker is not null and o.lost < ${suspect})::int
  where ${keyed('o.receipt', 'chosen', 'receipt')}
  returning o.receipt, o.tries, o.lost, o.lane
)
select 'alert' as claimed, -a.seq::float8 as outbox, a.tries, null::int as lost, a.reason, a.owner, a.receipt as about_receipt,
  a.quarantine, a.effect, a.occasion, a.raised_at::float8, null::boolean as filled, x.*
from alerts a left join lateral (${planColumns(s, 'null::bigint')}) x on true
union all
select 'plan', p.receipt::float8, p.tries, p.lost, null, null, null, null, null, null, null,
  p.lane = 0 and count(*) over (partition by p.lane, x.producer) >= (select size from share), x.*
from plans p cross join lateral (${planColumns(s, 'p.receipt')}) x`,
  }
}

function planColumns(s: string, receipt: string): string {
  return `select ${receiptColumns(s)}, v.key_id, v.nonce, v.ciphertext
  from ${s}.receipt r cross join lateral (select * from ${s}.vault where receipt = r.seq limit 1) v
  where r.seq = ${receipt} limit 1`
}

export function claimParameters({ worker, now, leaseMs, limit }: OutboxClaim, time: Timekeeper): SqlValue[] {
  return [time.now(now), worker, leaseMs, limit]
}

export function toOutboxRecords(rows: readonly Row[]): OutboxRecord[] {
  const records = rows.map((row): OutboxRecord => {
    const { outbox, tries, lost } = row
    if (row.claimed === 'plan') {
      return { kind: 'plan', outbox, tries, lost, receipt: toReceipt(row), payload: toSealed(row) }
    }
    const { reason, owner, about_receipt: receipt, quarantine, effect, occasion, raised_at: at } = row
    const alert = { reason, owner, receipt, quarantine, effect, occasion, at }
    return { kind: 'alert', outbox, tries, alert }
  })
  // Alerts first, each kind in the order it came.
  return records.sort((a, b) =>
    a.kind === b.kind ? Math.abs(a.outbox) - Math.abs(b.outbox) : a.kind === 'alert' ? -1 : 1,
  )
}

/** By the primary key. */
export function renewOutboxStatement(schema: string): Statement {
  return {
    name: 'counterfoil_renew_outbox',
    writes: true,
    text: `
update ${quoted(schema)}.outbox set at = ${nowSql('$1::bigint')} + $2::bigint
where receipt = any($4::bigint[]) and worker = $3::text`,
  }
}

/** By the primary key. */
export function tryAloneStatement(schema: string): Statement {
  return {
    name: 'counterfoil_try_alone',
    writes: true,
    text: `
update ${quoted(schema)}.outbox set lost = lost + 1 where receipt = $2::bigint and worker = $1::text returning lost`,
  }
}

export function renewOutboxParameters(renewal: OutboxRenewal, time: Timekeeper): SqlValue[] {
  const { worker, outbox, now, leaseMs } = renewal
  return [time.now(now), leaseMs, worker, `{${outbox.join()}}`]
}

/** By the primary key of outbox or alert. */
export function postponeStatement(schema: string, table: 'outbox' | 'alert'): Statement {
  return {
    name: `counterfoil_postpone_${table}`,
    writes: true,
    text: `
update ${quoted(schema)}.${table} set at = ${nowSql('$2::bigint')} + $3::bigint, worker = null, tries = tries + 1, last_error = $4::text
where ${table === 'outbox' ? 'receipt' : 'seq'} = $1::bigint`,
  }
}

export function postponeParameters(
  { outbox, at, error }: { outbox: number; at: Instant; error: string },
  time: Timekeeper,
): SqlValue[] {
  const { reference } = time
  return [Math.abs(outbox), time.now(reference), at - reference, error]
}

/** The record goes away and its receipt to quarantine; nothing happens when it is gone or another receipt's. */
export function giveUpStatement(schema: string): Statement {
  const s = quoted(schema)
  return {
    name: 'counterfoil_give_up',
    writes: true,
    text: `
with given_up as (
  delete from ${s}.outbox o where o.receipt = $1::bigint
    and exists (select 1 from ${s}.receipt r where r.seq = o.receipt and r.id = $2::text)
  returning o.receipt
),
${enterQuarantine(s, {
  receipt: '$2::text',
  seq: 'g.receipt',
  id: '$3::text',
  reason: '$4::text',
  detail: '$5::text',
  owner: '$6::text',
  at: '$7::bigint',
  now: nowSql('$8::bigint'),
})}
select 1 from given_up`,
  }
}

export function giveUpParameters(
  record: { outbox: number; receipt: string; quarantine: NewQuarantine; at: Instant },
  time: Timekeeper,
): SqlValue[] {
  const { id, reason, detail, owner } = record.quarantine
  const { outbox, receipt, at } = record
  return [outbox, receipt, id, reason, JSON.stringify(detail), owner, at, time.now(at)]
}
