import { assert, type EffectId } from '../../domain/index.ts'
import { attempting } from '../begun.ts'
import { fingerprintBytes, fingerprintToBytes } from '../digest.ts'
import type { NewEffect, Plan, Planned, SqlValue } from '../store.ts'
import { Block, booleans, numbers, type Rows, rowsOf, texts } from './columns.ts'
import type { Row } from './connection.ts'
import { effectRow } from './plan.ts'
import { among, keyed, quoted, type Statement } from './statement.ts'
import { nowSql, type Timekeeper } from './time.ts'

/**
 * Most events are live and plan one effect that nobody has planned. For those a statement of plain inserts does: it
 * asks neither what a known effect holds nor what becomes of a conflict.
 */
export function mayBeFreshPlan({ effects }: Plan): boolean {
  return effects.length === 1 && effects[0]?.behind !== true
}

const columns: readonly (readonly [string, string])[] = [
  ['$2::bigint[]', 'outbox'],
  ['$3::text[]', 'receipt'],
  ['$4::bigint[]', 'at'],
  ['$5::text[]', 'planned_by'],
  ['$6::bigint[]', 'now'],
  ['$7::text[]', 'id'],
  ['$8::text[]', 'recipient'],
  ['$9::text[]', 'key'],
  ['$10::text[]', 'name'],
  ['$11::text[]', 'idempotency_key'],
  ['$12::text[]', 'order_domain'],
  ['$13::bigint[]', 'order_version'],
  ['$14::boolean[]', 'in_turn'],
  ['$15::bigint[]', 'planned_at'],
  ['$16::text[]', 'trigger'],
  ['$17::text[]', 'trace'],
  ['$18::text[]', 'worker'],
  ['$19::bigint[]', 'lease_ms'],
  ['$20::int[]', 'block_at'],
  ['$21::text[]', 'key_id'],
  ['$22::int[]', 'nonce_bytes'],
  ['$23::int[]', 'ciphertext_bytes'],
]

/**
 * Design decision 2 for plans of one effect each whose key nobody has. What it leaves out has a known key, or is no
 * longer held, or has to be looked for among markers: nothing of it is written, and `planStatement` decides.
 */
export function planFreshStatement(schema: string, rows: Rows): Statement {
  const s = quoted(schema)
  const isHeld = among('receipt', 'held', 'outbox')
  const isCreated = among('seq', 'created')
  const bytesFrom = (from: string, length: string) =>
    `substring($1::bytea from block_at + ${from} for ${length})`
  return {
    name: `counterfoil_plan_fresh_${rows}`,
    writes: true,
    text: `
with given as materialized (
  select g.*, nextval('${s}.effect_seq') as seq, substring($1::bytea from g.block_at for ${fingerprintBytes}) as fingerprint from ${rowsOf(rows, 'g', columns, 'n')}
),
-- The primary key of receipt, effect_key.
unplanned as materialized (
  select outbox from given g where (select r.id from ${s}.receipt r where r.seq = g.outbox) = g.receipt
    and (select e.seq from ${s}.effect e where e.key = g.key and e.recipient || '' = g.recipient limit 1) is null
    and (select marked from ${s}.retention where one = 1) is not true
),
-- The primary key of outbox. Who deletes the record plans it.
held as (
  delete from ${s}.outbox o where ${keyed('o.receipt', 'unplanned', 'outbox')} returning o.receipt
),
planned as (
  insert into ${s}.plan (receipt, at, by) select outbox, at, planned_by from given where ${isHeld}
),
-- In one order everywhere, so that two that create the same effects wait instead of locking each other out.
created as (
  insert into ${s}.effect (${effectRow})
  select ${effectRow}
  from given where ${isHeld} order by key, recipient
  on conflict (key, recipient) do nothing returning seq
),
requests as (
  insert into ${s}.request (effect, key_id, nonce, ciphertext)
  select seq, key_id, ${bytesFrom(String(fingerprintBytes), 'nonce_bytes')}, ${bytesFrom(`${fingerprintBytes} + nonce_bytes`, 'ciphertext_bytes')}
  from given where ${isCreated}
),
opened as (
  insert into ${s}.open (effect, recipient, domain, turn, state, version, changed_at, at, worker, attempts)
  select seq, recipient, order_domain, case when in_turn then order_version end, case when worker is null then 'planned' else '${attempting}' end,
    1 + (worker is not null)::int, planned_at, ${nowSql('now')} + planned_at - at + coalesce(lease_ms, 0), worker, (worker is not null)::int
  from given where ${isCreated}
),
-- Design decision 3 in the same commit, where the worker that plans has a place free.
begun as (
  insert into ${s}.attempt (effect, number, begun_at, worker) select seq, 1, at, worker from given where worker is not null and ${isCreated}
),
causes as (
  insert into ${s}.cause (effect, receipt, trigger, at) select seq, outbox, trigger, at from given where ${isCreated}
)
select n::int, case when ${isCreated} then id else ${s}.overtaken()::text end as id from given where ${isHeld}`,
  }
}

export function planFreshParameters(plans: readonly Plan[], time: Timekeeper): SqlValue[] {
  const effects = plans.map(onlyEffect)
  const block = new Block()
  const at = effects.map(({ fingerprint, request }) => {
    const begins = block.add(fingerprintToBytes(fingerprint))
    block.add(request.nonce)
    block.add(request.ciphertext)
    return begins
  })
  return [
    block.toBytes(),
    numbers(plans.map(({ outbox }) => outbox)),
    texts(plans.map(({ receipt }) => receipt)),
    numbers(plans.map((plan) => plan.at)),
    texts(plans.map(({ plannedBy }) => plannedBy)),
    numbers(plans.map((plan) => time.now(plan.at))),
    texts(effects.map(({ id }) => id)),
    texts(effects.map(({ recipient }) => recipient)),
    texts(effects.map(({ key }) => key)),
    texts(effects.map(({ name }) => name)),
    texts(effects.map(({ idempotencyKey }) => idempotencyKey)),
    texts(effects.map(({ order }) => order?.domain)),
    numbers(effects.map(({ order }) => order?.version)),
    booleans(effects.map(({ inTurn }) => inTurn === true)),
    numbers(effects.map(({ plannedAt }) => plannedAt)),
    texts(effects.map(({ trigger }) => trigger)),
    texts(effects.map(({ trace }) => trace)),
    texts(effects.map(({ begin }) => begin?.worker)),
    numbers(effects.map(({ begin }) => begin?.leaseMs)),
    numbers(at),
    texts(effects.map(({ request }) => request.keyId)),
    numbers(effects.map(({ request }) => request.nonce.length)),
    numbers(effects.map(({ request }) => request.ciphertext.length)),
  ]
}

/** What one row of the statement says of one plan. */
export function toPlannedFresh({ id }: Row): Planned {
  return { kind: 'planned', effects: [{ id: id as EffectId, created: true }] }
}

function onlyEffect({ effects }: Plan): NewEffect {
  const [effect] = effects
  assert(effect !== undefined && effects.length === 1, 'a plan that may be fresh has one effect')
  return effect
}
