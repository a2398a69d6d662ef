import type { Limits } from '../../domain/index.ts'
import type { SqlValue } from '../store.ts'
import { numbers, texts } from './columns.ts'
import { keyed, quoted, type Statement } from './statement.ts'

/** An attempt that limits forbade for want of a place is looked at again after this time; a token's time is known. */
export const placeWaitMs = 1_000

/**
 * The first half of a claim under limits: the sole right to begin at these recipients, until the transaction
 * ends. The claim itself is a statement of its own, whose snapshot then has all that others began before. A claim
 * passes over what another worker holds; a repeat waits for it.
 */
export function holdStatement(schema: string, patience: 'passes over' | 'waits'): Statement {
  const s = quoted(schema)
  return {
    name: `counterfoil_hold_${patience.replace(' ', '_')}`,
    writes: true,
    text: `
with made as (
  insert into ${s}.pace (recipient) select unnest($1::text[]) on conflict do nothing returning recipient
),
held as (
  select recipient from ${s}.pace where recipient = any($1::text[]) order by recipient
  for update ${patience === 'waits' ? '' : 'skip locked'}
)
select recipient from made union all select recipient from held`,
  }
}

/**
 * CTEs that tell in `room` what may begin at each recipient of `limited (recipient, concurrency, count, per_ms)`.
 * By the primary keys of pace, in_flight and open.
 */
export function roomOf(s: string): string {
  const flies = `(select o.effect from ${s}.open o where o.effect = f.effect and o.state = 'attempting'
      and o.attempts = f.attempt and o.at > (select now from clock) limit 1) is not null`
  return `
landed as (
  delete from ${s}.in_flight f where ${keyed('f.recipient', 'limited', 'recipient')} and not (${flies})
),
room as materialized (
  select l.*, b.tokens, greatest(0, least(2147483647, floor(b.tokens), l.concurrency - (select count(*) from ${s}.in_flight f where f.recipient = l.recipient and ${flies}))) as size
  from limited l cross join lateral (
    select case when l.count is not null then least(l.count, coalesce(p.tokens
      + greatest(0, (select now from clock) - p.filled_at) * l.count / l.per_ms, l.count)) end as tokens
    from ${s}.pace p where p.recipient = l.recipient limit 1) b
)`
}

/** CTEs that charge what `moved (effect, recipient, attempts, before)` has begun. */
export function chargeOf(s: string): string {
  return `
paid as (
  update ${s}.pace p set filled_at = (select now from clock),
    tokens = r.tokens - (select count(*) from moved m where m.recipient = p.recipient and m.before = 'planned')
  from room r where p.recipient = r.recipient and r.tokens is not null and ${keyed('p.recipient', 'room', 'recipient')}
),
flying as (
  insert into ${s}.in_flight (recipient, effect, attempt)
  select m.recipient, m.effect, m.attempts from moved m join room r on r.recipient = m.recipient
  where m.before = 'planned' and r.concurrency is not null
)`
}

/** For `unnest(text[], bigint[], float8[], float8[]) as limited`. */
export function limitParameters(limits: readonly (readonly [string, Limits])[]): SqlValue[] {
  return [
    texts(limits.map(([recipient]) => recipient)),
    numbers(limits.map(([, { concurrency }]) => concurrency)),
    numbers(limits.map(([, { rate }]) => rate?.count)),
    numbers(limits.map(([, { rate }]) => rate?.perMs)),
  ]
}
