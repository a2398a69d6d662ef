import { CounterfoilError, isFinalState } from '../../domain/index.ts'
import type { EffectView } from '../records.ts'
import type { Settled, Settlement, SqlValue } from '../store.ts'
import { booleans, numbers, type Rows, rowsOf, texts } from './columns.ts'
import { among, keyed, quoted, type Statement } from './statement.ts'
import { nowSql, type Timekeeper } from './time.ts'

const columns: readonly (readonly [string, string])[] = [
  ['$1::text[]', 'id'],
  ['$2::bigint[]', 'version'],
  ['$3::bigint[]', 'at'],
  ['$4::text[]', 'to_state'],
  ['$5::boolean[]', 'final'],
  ['$6::boolean[]', 'disputed'],
  ['$7::boolean[]', 'escalated'],
  ['$8::boolean[]', 'due_kept'],
  ['$9::bigint[]', 'due_in'],
  ['$10::int[]', 'attempt'],
  ['$11::text[]', 'outcome'],
  ['$12::text[]', 'why'],
  ['$13::int[]', 'status'],
  ['$14::text[]', 'correlation'],
  ['$15::bigint[]', 'retry_after_ms'],
  ['$16::boolean[]', 'close'],
  ['$17::text[]', 'kind'],
  ['$18::text[]', 'fact'],
  ['$19::int[]', 'of_attempt'],
  ['$20::text[]', 'from_state'],
  ['$21::text[]', 'evidence_why'],
  ['$22::int[]', 'evidence_status'],
  ['$23::text[]', 'evidence_correlation'],
  ['$24::text[]', 'by'],
  ['$25::text[]', 'reason'],
  ['$26::text[]', 'owner'],
  ['$27::bigint[]', 'now'],
]

/**
 * Design decision 4 for many effects: one statement, one commit, each by compare-and-set of its version. An
 * effect that becomes final moves from open to final; one that is final only takes what disputes it.
 */
export function settleStatement(schema: string, rows: Rows): Statement {
  const s = quoted(schema)
  return {
    name: `counterfoil_settle_${rows}`,
    writes: true,
    text: `
-- The unique index of effect.id.
with given as materialized (
  select g.*, e.seq as effect, e.recipient
  from ${rowsOf(rows, 'g', columns, 'n')}
  cross join lateral (select seq, recipient from ${s}.effect where id = g.id limit 1) e
),
-- The primary keys of open and final.
stayed as (
  update ${s}.open o set state = g.to_state, version = o.version + 1, disputed = g.disputed, escalated = g.escalated,
    changed_at = g.at, at = case when g.due_kept then o.at else ${nowSql('g.now')} + g.due_in end,
    worker = case when g.due_kept then o.worker end
  from given g where o.effect = g.effect and o.version = g.version and not g.final
    and ${keyed('o.effect', 'given', 'effect')}
  returning g.n
),
left_open as (
  delete from ${s}.open o using given g where o.effect = g.effect and o.version = g.version and g.final
    and ${keyed('o.effect', 'given', 'effect')}
  returning g.n
),
finished as (
  insert into ${s}.final (effect, state, version, disputed, escalated, changed_at, recipient)
  select effect, to_state, version + 1, disputed, escalated, at, case when to_state <> 'confirmed' then recipient end from given where ${among('n', 'left_open')}
),
disputed as (
  update ${s}.final f set version = f.version + 1, disputed = g.disputed, escalated = g.escalated, changed_at = g.at
  from given g where f.effect = g.effect and f.version = g.version and f.state = g.to_state
    and ${keyed('f.effect', `given where final and not ${among('n', 'left_open')}`, 'effect')}
  returning g.n
),
moved as materialized (select n from stayed union all select n from left_open union all select n from disputed),
-- The primary key (effect, number). What was closed stays closed, what was answered stays answered; a late answer ends later.
answered as (
  update ${s}.attempt a set
    outcome = case when x.answers then g.outcome else a.outcome end,
    why = case when x.answers then g.why else a.why end,
    status = case when x.answers then g.status else a.status end,
    correlation = case when x.answers then g.correlation else a.correlation end,
    retry_after_ms = case when x.answers then g.retry_after_ms else a.retry_after_ms end,
    ended_at = case when x.answers then greatest(a.ended_at, g.at) else a.ended_at end,
    open = a.open and not g.close and (not x.answers or g.outcome = 'unknown')
  from given g
  cross join lateral (select b.number, b.number is not distinct from g.attempt and coalesce(b.outcome, 'unknown') = 'unknown' as answers
    from ${s}.attempt b where b.effect = g.effect and (b.number = g.attempt or g.close)) x
  where a.effect = g.effect and a.number = x.number and ${among('n', 'moved')} and ${keyed('a.effect', 'given', 'effect')}
),
noted as (
  insert into ${s}.evidence (effect, at, kind, fact, attempt, from_state, to_state, why, status, correlation, by)
  select effect, at, kind, fact, of_attempt, from_state, to_state, evidence_why, evidence_status, evidence_correlation, by
  from given where kind is not null and ${among('n', 'moved')} order by n
),
alerted as (
  insert into ${s}.alert (at, raised_at, reason, owner, effect, occasion)
  select ${nowSql('now')}, at, reason, owner, id, 'version/' || version + 1 from given where reason is not null and ${among('n', 'moved')}
),
tallied as (
  insert into ${s}.tally (name, value) select to_state, count(*) from given
  where ${among('n', 'left_open')} group by to_state
)
select n::int, ${among('n', 'moved')} as moved from given`,
  }
}

export function settleParameters(all: readonly Settlement[], time: Timekeeper): SqlValue[] {
  const attempts = all.map(({ attempt }) => attempt)
  const evidence = all.map(({ evidence: one }) => one)
  return [
    texts(all.map(({ effect }) => effect)),
    numbers(all.map(({ expectedVersion }) => expectedVersion)),
    numbers(all.map(({ at }) => at)),
    texts(all.map(({ to }) => to)),
    booleans(all.map(({ to }) => isFinalState(to))),
    booleans(all.map(({ disputed }) => disputed)),
    booleans(all.map(({ escalated }) => escalated)),
    booleans(all.map(({ dueAt }) => dueAt === 'unchanged')),
    numbers(all.map(({ dueAt, at }) => (typeof dueAt === 'number' ? dueAt - at : null))),
    numbers(attempts.map((one) => one?.number)),
    texts(attempts.map((one) => one?.outcome)),
    texts(attempts.map((one) => one?.why)),
    numbers(attempts.map((one) => one?.status)),
    texts(attempts.map((one) => one?.correlation)),
    numbers(attempts.map((one) => one?.retryAfterMs)),
    booleans(all.map(({ closeAttempts }) => closeAttempts)),
    texts(evidence.map((one) => one?.kind)),
    texts(evidence.map((one) => one?.fact)),
    numbers(evidence.map((one) => one?.attempt)),
    texts(evidence.map((one) => one?.from)),
    texts(evidence.map((one) => one?.why)),
    numbers(evidence.map((one) => one?.status)),
    texts(evidence.map((one) => one?.correlation)),
    texts(evidence.map((one) => one?.by)),
    texts(all.map(({ alert }) => alert?.reason)),
    texts(all.map(({ alert }) => alert?.owner)),
    numbers(all.map(({ at }) => time.now(at))),
  ]
}

/** What is told of a settlement that moved nothing. */
export function notMoved(
  { effect, to, expectedVersion }: Settlement,
  current: EffectView | undefined,
): Settled | Error {
  if (current === undefined) return new CounterfoilError('not_found', `There is no effect ${effect}.`)
  if (current.version !== expectedVersion) return { kind: 'stale', current }
  return new CounterfoilError(
    'internal',
    `The effect ${effect} is ${current.state}, which is final: it does not become ${to}.`,
  )
}
