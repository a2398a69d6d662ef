import type { Settlement, SqlValue } from '../store.ts'
import { numbers, type Rows, rowsOf, texts } from './columns.ts'
import { among, keyed, quoted, type Statement } from './statement.ts'

/** The version of an effect whose first attempt has begun and whose answer is not yet written. */
const begunVersion = 2

/**
 * Most effects are confirmed by the answer of their first attempt. For those a statement does that knows of no other
 * attempt, no evidence, no dispute and no alert.
 */
export function endsAtFirst({
  expectedVersion,
  to,
  disputed,
  escalated,
  attempt,
  evidence,
  alert,
}: Settlement): boolean {
  return (
    expectedVersion === begunVersion &&
    attempt?.number === 1 &&
    attempt.outcome !== 'unknown' &&
    to === 'confirmed' &&
    !disputed &&
    !escalated &&
    evidence === undefined &&
    alert === undefined
  )
}

const columns: readonly (readonly [string, string])[] = [
  ['$1::text[]', 'id'],
  ['$2::bigint[]', 'at'],
  ['$3::text[]', 'to_state'],
  ['$4::text[]', 'outcome'],
  ['$5::text[]', 'why'],
  ['$6::int[]', 'status'],
  ['$7::text[]', 'correlation'],
  ['$8::bigint[]', 'retry_after_ms'],
]

/** Design decision 4 for effects that end at their first attempt, each by compare-and-set of its version. */
export function settleFirstStatement(schema: string, rows: Rows): Statement {
  const s = quoted(schema)
  const isMoved = among('effect', 'left_open')
  return {
    name: `counterfoil_settle_first_${rows}`,
    writes: true,
    text: `
-- The unique index of effect.id, the primary keys of open and attempt.
with given as materialized (
  select g.*, e.seq as effect from ${rowsOf(rows, 'g', columns, 'n')}
  cross join lateral (select seq from ${s}.effect where id = g.id limit 1) e
),
left_open as (
  delete from ${s}.open o where o.version = ${begunVersion} and ${keyed('o.effect', 'given', 'effect')} returning o.effect
),
finished as (
  insert into ${s}.final (effect, state, version, disputed, escalated, changed_at)
  select effect, to_state, ${begunVersion + 1}, false, false, at from given where ${isMoved}
),
-- Each meets its attempt, which is there since it began, at the primary key: a conflict is the only way to tell rows
-- of a table apart by key without a join, and a join of many rows with many costs their square (statement.ts, keyed).
answered as (
  insert into ${s}.attempt as a (effect, number, begun_at, worker, outcome, why, status, correlation, retry_after_ms, ended_at, open)
  select effect, 1, at, '', outcome, why, status, correlation, retry_after_ms, at, false from given where ${isMoved}
  on conflict (effect, number) do update set outcome = excluded.outcome, why = excluded.why, status = excluded.status,
    correlation = excluded.correlation, retry_after_ms = excluded.retry_after_ms, ended_at = excluded.ended_at, open = false
),
tallied as (
  insert into ${s}.tally (name, value) select to_state, count(*) from given where ${isMoved} group by to_state
)
select n::int, ${isMoved} as moved from given`,
  }
}

export function settleFirstParameters(all: readonly Settlement[]): SqlValue[] {
  const attempts = all.map(({ attempt }) => attempt)
  return [
    texts(all.map(({ effect }) => effect)),
    numbers(all.map(({ at }) => at)),
    texts(all.map(({ to }) => to)),
    texts(attempts.map((one) => one?.outcome)),
    texts(attempts.map((one) => one?.why)),
    numbers(attempts.map((one) => one?.status)),
    texts(attempts.map((one) => one?.correlation)),
    numbers(attempts.map((one) => one?.retryAfterMs)),
  ]
}
