import type { Instant, WorkerId } from '../../domain/index.ts'
import { attempting, begunAttempt } from '../begun.ts'
import type { DueClaim, DueWork, EffectWork, RepeatBegin, SqlValue } from '../store.ts'
import { Turns } from '../turns.ts'
import { booleans, numbers, texts } from './columns.ts'
import type { Row } from './connection.ts'
import { chargeOf, placeWaitMs, roomOf } from './pace.ts'
import { effectColumns, historyColumns, stateColumns, toEffect, toSealed } from './rows.ts'
import { among, keyed, quoted, type Statement } from './statement.ts'
import { nowSql, type Timekeeper } from './time.ts'

/**
 * Design decision 3: attempts begun, with their lease, before their first byte. Takes what is due for each
 * recipient by open_at, half of it in turn of the ordering domains (turns.ts) by open_domain, and where those leave
 * room what a backfill planned, passing over what other workers take at the same moment. What was begun once waits
 * behind nothing: its outcome has to be learned while that can be asked for. With limits it is the second statement of its transaction (pace.ts).
 */
export function takeDueStatement(schema: string, limits: 'free' | 'limited'): Statement {
  const s = quoted(schema)
  const isLimited = limits === 'limited'
  return {
    name: isLimited ? 'counterfoil_take_due_limited' : 'counterfoil_take_due',
    writes: true,
    text: `
with recursive clock as materialized (select ${nowSql('$5::bigint')} as now),${isLimited ? `${limitedOf(11)},${roomOf(s)},` : ''}
wanted as materialized (
  select w.recipient, w.share, w.after, w.in_turn, w.visits, ${isLimited ? 'least(w.slots, (select size from room r where r.recipient = w.recipient))' : 'w.slots'} as slots
  from unnest($1::text[], $2::bigint[], $7::bigint[], $8::text[], $9::boolean[], $10::bigint[])
    as w(recipient, slots, share, after, in_turn, visits)
),
-- first: of a domain that is taken in turn. taken counts the domains that have something ready.
turns(recipient, domain, first, n, taken, share, in_turn, visits) as (
  select w.recipient, d.domain, f.effect, 1::bigint, (not w.in_turn or coalesce(f.ready, false))::int::bigint, least(w.share, w.slots), w.in_turn, w.visits
  from wanted w cross join lateral (select ${nextDomain(s, 'w.recipient', 'w.after')} as domain) d
    left join lateral ${firstOf(s, 'w.in_turn', 'w.recipient')} f on true
  where least(w.share, w.slots) > 0
  union all
  select t.recipient, d.domain, f.effect, t.n + 1, t.taken + (not t.in_turn or coalesce(f.ready, false))::int, t.share, t.in_turn, t.visits
  from turns t cross join lateral (select ${nextDomain(s, 't.recipient', 't.domain')} as domain) d
    left join lateral ${firstOf(s, 't.in_turn', 't.recipient')} f on true
  where t.domain is not null and t.taken < t.share and t.n < t.visits
),
-- Chosen without a lock: to pass over a first one that another worker holds would be to take the second.
in_turn as materialized (
  select t.recipient, d.effect, d.state from turns t cross join lateral (
    select o.effect, o.state from ${s}.open o
    where o.recipient = t.recipient and o.domain = t.domain and o.at <= (select now from clock) and o.lane = 0 order by o.at limit 1
    for update skip locked) d
  where t.domain is not null and not t.in_turn
  union all
  select t.recipient, d.effect, d.state from turns t cross join lateral (
    select o.effect, o.state from ${s}.open o where o.effect = t.first and o.at <= (select now from clock)
    for update skip locked) d
),
by_time as materialized (
  select w.recipient, d.effect, d.state from wanted w cross join lateral (
    select o.effect, o.state from ${s}.open o
    where o.recipient = w.recipient and o.at <= (select now from clock) and o.turn is null and o.lane = 0 and (o.effect = any(array(select effect from in_turn))) is not true
    order by o.at limit w.slots - (select count(*) from in_turn t where t.recipient = w.recipient)
    for update skip locked) d
),
-- open_behind: what a backfill planned, where the others leave room.
behind as materialized (
  select d.effect, d.state from wanted w cross join lateral (
    select o.effect, o.state from ${s}.open o
    where o.recipient = w.recipient and o.at <= (select now from clock) and o.lane = 1
    order by o.at limit w.slots - (select count(*) from in_turn t where t.recipient = w.recipient)
      - (select count(*) from by_time t where t.recipient = w.recipient)
    for update skip locked) d
),
picked as materialized (
  select effect, state as before from in_turn
  union all select effect, state from by_time
  union all select effect, state from behind
),
moved as (
  update ${s}.open o set at = (select now from clock) + $4::bigint, worker = $3::text, lane = 0,
    state = case when o.state = 'planned' then '${attempting}' else o.state end,
    version = o.version + (o.state = 'planned')::int, attempts = o.attempts + (o.state = 'planned')::int,
    escalated = o.escalated and o.state <> 'planned',
    changed_at = case when o.state = 'planned' then $6::bigint else o.changed_at end
  where ${keyed('o.effect', 'picked', 'effect')}
  returning o.*, case when ${among('effect', `picked where before = 'planned'`, 'o.effect')} then 'planned' end as before
),
begun as (
  insert into ${s}.attempt (effect, number, begun_at, worker)
  select effect, attempts, $6::bigint, $3::text from moved where before = 'planned'
)${isLimited ? `,${chargeOf(s)}` : ''}
${workOf(s, turnedTo, 'wanted w left join moved o on o.recipient = w.recipient')}`,
  }
}

/** Where the round of ordering domains stands, also where nothing was ready; null at its end. */
const turnedTo = `w.recipient as turned_at,
  (select case when count(*) = 0 then w.after when count(*) = count(t.domain) then max(t.domain) end from turns t
   where t.recipient = w.recipient) as turned_to`

/** By open_turn: the first effect of a domain that is not final, where it is ready; else null, and the domain is passed. */
function firstOf(s: string, inTurn: string, recipient: string): string {
  return `(select case when h.at <= (select now from clock) then h.effect end as effect, coalesce(h.at <= (select now from clock), false) as ready
    from ${s}.open h where ${inTurn} and h.recipient = ${recipient} and h.domain = d.domain and h.turn is not null
    order by h.turn, h.effect limit 1)`
}

/** By open_domain: one probe for each domain, however many effects wait in it. */
function nextDomain(s: string, recipient: string, after: string): string {
  return `(select o.domain from ${s}.open o where o.recipient = ${recipient} and o.domain > ${after}
    and o.at is not null and o.lane = 0 order by o.domain limit 1)`
}

/** What the limits are, from this parameter on. */
function limitedOf(first: number): string {
  const of = (place: number, type: string) => `$${first + place}::${type}[]`
  return `
limited as materialized (
  select * from unnest(${of(0, 'text')}, ${of(1, 'bigint')}, ${of(2, 'float8')}, ${of(3, 'float8')})
    as l(recipient, concurrency, count, per_ms)
)`
}

export function takeDueParameters(
  { worker, now, leaseMs, slots, inTurn = [] }: DueClaim,
  time: Timekeeper,
  turns: Turns,
): SqlValue[] {
  const wanted = Object.entries(slots).filter(([, limit]) => limit >= 1)
  const isInTurn = wanted.map(([recipient]) => inTurn.includes(recipient))
  const shares = wanted.map(([, limit], n) => (isInTurn[n] ? limit : turns.share(limit)))
  return [
    texts(wanted.map(([recipient]) => recipient)),
    numbers(wanted.map(([, limit]) => limit)),
    worker,
    leaseMs,
    time.now(now),
    now,
    numbers(shares),
    texts(wanted.map(([recipient]) => turns.after(recipient))),
    booleans(isInTurn),
    numbers(wanted.map(([, limit], n) => (isInTurn[n] ? Turns.visits(limit) : shares[n]!))),
  ]
}

/** The unique index of id, then the primary key of open: of many who decided, one finds the version they saw. */
export function beginRepeatStatement(schema: string, limits: 'free' | 'limited'): Statement {
  const s = quoted(schema)
  const isLimited = limits === 'limited'
  const asDecided = `o.effect = (select seq from ${s}.effect where id = $1) and o.version = $2::bigint and o.state = 'unknown'`
  return {
    name: isLimited ? 'counterfoil_begin_repeat_limited' : 'counterfoil_begin_repeat',
    writes: true,
    text: `
with clock as materialized (select ${nowSql('$5::bigint')} as now),${isLimited ? `${limitedOf(7)},${roomOf(s)},` : ''}
moved as (
  update ${s}.open o set at = (select now from clock) + $4::bigint, worker = $3::text, state = '${attempting}',
    version = o.version + 1, attempts = o.attempts + 1, escalated = false, changed_at = $6::bigint
  where ${asDecided}${isLimited ? ' and (select size from room) >= 1' : ''}
  returning o.*, 'planned'::text as before
),
begun as (
  insert into ${s}.attempt (effect, number, begun_at, worker) select effect, attempts, $6::bigint, $3::text from moved
)${isLimited ? `,${heldOf(s, asDecided)},${chargeOf(s)}` : ''}
${workOf(s)}`,
  }
}

/** Without room it is due again when there may be some. */
function heldOf(s: string, asDecided: string): string {
  return `
held as (
  update ${s}.open o set worker = null, at = (select now from clock) + (select
    case when tokens < 1 then ceil((1 - tokens) * per_ms / count)::bigint else ${placeWaitMs} end from room)
  where ${asDecided} and (select size from room) < 1
)`
}

export function beginRepeatParameters(repeat: RepeatBegin, time: Timekeeper): SqlValue[] {
  const { effect, expectedVersion, worker, leaseMs, now } = repeat
  return [effect, expectedVersion, worker, leaseMs, time.now(now), now]
}

/** By id, then the primary key of open. */
export function renewStatement(schema: string): Statement {
  const s = quoted(schema)
  return {
    name: 'counterfoil_renew',
    writes: true,
    text: `
update ${s}.open o set at = ${nowSql('$4::bigint')} + $3::bigint
where o.effect = any(array(select e.seq from unnest($2::text[]) as i(id)
    cross join lateral (select seq from ${s}.effect where id = i.id limit 1) e))
  and o.worker = $1::text and o.state = '${attempting}'`,
  }
}

/**
 * The effects as a worker gets them; `before` tells of those that were begun. An effect at version 1 had no attempt and no evidence, so nothing is read;
 * the attempt that the same statement inserts is not visible to it and is added by `toWork`.
 */
function workOf(s: string, further = 'null as turned_to', from = 'moved o'): string {
  return `
select ${further}, ${effectColumns}, ${stateColumns('(select now from clock)', (name) => `o.${name}`)},
  ${historyColumns(s, 'o.version - (o.before is not null)::int > 1')},
  o.before, o.attempts as number, q.key_id, q.nonce, q.ciphertext
from ${from}
left join lateral (select * from ${s}.effect where seq = o.effect limit 1) e on true
left join lateral (select * from ${s}.request where effect = o.effect and o.before = 'planned' limit 1) q on true
order by o.effect`
}

export function toWork(row: Row, { worker, now }: { worker: WorkerId; now: Instant }): DueWork {
  return row.before === 'planned'
    ? toEffectWork(row, { worker, now })
    : { kind: 'attention', effect: toEffect(row, now) }
}

export function toEffectWork(row: Row, { worker, now }: { worker: WorkerId; now: Instant }): EffectWork {
  const attempt = begunAttempt(row.number, now, worker)
  return {
    kind: 'attempt',
    effect: toEffect(row, now, attempt),
    attempt: attempt.number,
    request: toSealed(row),
  }
}
