import { assert, type EffectId, type EffectKey, type Fingerprint } from '../../domain/index.ts'
import { attempting } from '../begun.ts'
import { fingerprintBytes, fingerprintToBytes } from '../digest.ts'
import { type Marking, markerBytes } from '../marking.ts'
import type { NewEffect, Plan, Planned, SqlValue } from '../store.ts'
import { Block, booleans, numbers, type Rows, rowsOf, texts } from './columns.ts'
import type { Row, Run } from './connection.ts'
import type { Marks } from './marks.ts'
import { enterQuarantine } from './quarantine-return.ts'
import { among, fingerprintText, keyed, quoted, type Statement } from './statement.ts'
import { nowSql, type Timekeeper } from './time.ts'

type Conflict = Extract<Planned, { kind: 'conflict' }>

/** Two plans with one of these in common cannot share a statement: the second has to see what the first wrote. */
export function namesOf({ outbox, effects }: Plan): string[] {
  return [String(outbox), ...effects.map(nameOf)]
}

/** What is written of an effect, named once: a statement that left one out would lose it for some effects only. */
export const effectRow =
  'seq, id, recipient, key, name, fingerprint, idempotency_key, order_domain, order_version, planned_at, trace'

const planColumns: readonly (readonly [string, string])[] = [
  ['$1::bigint[]', 'outbox'],
  ['$2::text[]', 'receipt'],
  ['$3::bigint[]', 'at'],
  ['$4::text[]', 'planned_by'],
  ['$5::text[]', 'quarantine'],
  ['$6::text[]', 'owner'],
  ['$7::text[]', 'contradiction'],
  ['$27::bigint[]', 'now'],
]

const effectColumns: readonly (readonly [string, string])[] = [
  ['$9::int[]', 'plan'],
  ['$10::text[]', 'id'],
  ['$11::text[]', 'recipient'],
  ['$12::text[]', 'key'],
  ['$13::text[]', 'name'],
  ['$15::int[]', 'at'],
  ['$16::int[]', 'nonce_bytes'],
  ['$17::int[]', 'ciphertext_bytes'],
  ['$18::text[]', 'idempotency_key'],
  ['$19::text[]', 'order_domain'],
  ['$20::bigint[]', 'order_version'],
  ['$21::bigint[]', 'planned_at'],
  ['$22::text[]', 'key_id'],
  ['$23::text[]', 'trigger'],
  ['$24::bigint[]', 'receipt'],
  ['$25::bigint[]', 'caused_at'],
  ['$26::bigint[]', 'now'],
  ['$30::text[]', 'worker'],
  ['$31::bigint[]', 'lease_ms'],
  ['$33::boolean[]', 'in_turn'],
  ['$34::text[]', 'trace'],
  ['$35::boolean[]', 'behind'],
]

/**
 * Design decision 2 for many plans: one statement, one commit. Each stands or falls as a whole: when another
 * transaction commits one of its effects meanwhile, the statement ends with a serialization failure and is run
 * again, so that no plan is ever written without one of its effects.
 */
export function planStatement(schema: string, rows: Rows): Statement {
  const s = quoted(schema)
  const marker = (from: number) =>
    `substring($14::bytea from w.at + ${fingerprintBytes + from} + w.nonce_bytes + w.ciphertext_bytes for ${markerBytes})`
  const isHeld = (outbox: string) => among('receipt', 'held', outbox)
  // It went without markers and the store has some: nothing is decided.
  const unmarked = `(not $32::boolean and (select marked from ${s}.retention where one = 1) is true)`
  return {
    name: `counterfoil_plan_${rows}`,
    writes: true,
    text: `
-- effect_key and a marker's digest, one probe each. As an expression the recipient leads to no index of its own, which
-- a planner that has seen an empty table takes for as good: it holds every effect that the recipient ever had.
with wanted as materialized (
  select w.*, nextval('${s}.effect_seq') as seq, substring($14::bytea from w.at for ${fingerprintBytes}) as fingerprint,
    known.seq as known_seq, coalesce(known.id, m.id) as known_id, known.fingerprint as known_fingerprint,
    m.id is not null as forgotten, m.content <> ${marker(markerBytes)} as differs
  from ${rowsOf(rows, 'w', effectColumns, 'm')}
  left join lateral (select e.seq, e.id, e.fingerprint from ${s}.effect e
    where e.key = w.key and e.recipient || '' = w.recipient limit 1) known on true
  left join lateral (select x.id, x.content from ${s}.effect_marker x
    where $32::boolean and known.seq is null and x.digest = ${marker(0)} limit 1) m on true
),
clash as materialized (
  select distinct on (plan) plan as n, recipient, key, ${fingerprintText('fingerprint')} as planned,
    ${fingerprintText('known_fingerprint')} as existing
  from wanted where known_fingerprint <> fingerprint or differs order by plan, m
),
given as materialized (
  select g.*, g.contradiction is not null or ${among('n', 'clash')} as conflict
  from ${rowsOf(rows, 'g', planColumns, 'n')}
),
-- The primary key of receipt. $8: a conflict is quarantined here.
decided as materialized (
  select outbox from given g where (select r.id from ${s}.receipt r where r.seq = g.outbox) = g.receipt
    and ($8::boolean or not g.conflict) and not ${unmarked}
),
-- The primary key of outbox. Who deletes the record plans it.
held as (
  delete from ${s}.outbox o where ${keyed('o.receipt', 'decided', 'outbox')} returning o.receipt
),
good as materialized (select n, n as plan from given where not conflict and ${isHeld('outbox')}),
planned as (
  insert into ${s}.plan (receipt, at, by) select outbox, at, planned_by from given where ${among('n', 'good')}
),
-- In one order everywhere, so that two that create the same effects wait instead of locking each other out.
created as (
  insert into ${s}.effect (${effectRow})
  select ${effectRow}
  from wanted where known_id is null and ${among('plan', 'good')} order by key, recipient
  on conflict (key, recipient) do nothing returning seq
),
requests as (
  insert into ${s}.request (effect, key_id, nonce, ciphertext)
  select seq, key_id, substring($14::bytea from at + ${fingerprintBytes} for nonce_bytes),
    substring($14::bytea from at + ${fingerprintBytes} + nonce_bytes for ciphertext_bytes)
  from wanted where ${among('seq', 'created')}
),
opened as (
  insert into ${s}.open (effect, recipient, domain, turn, lane, state, version, changed_at, at, worker, attempts)
  select seq, recipient, order_domain, case when in_turn then order_version end, (behind and not in_turn and worker is null)::int, case when worker is null then 'planned' else '${attempting}' end, 1 + (worker is not null)::int,
    planned_at, ${nowSql('now')} + planned_at - caused_at + coalesce(lease_ms, 0), worker, (worker is not null)::int
  from wanted where ${among('seq', 'created')}
),
-- Design decision 3 in the same commit, where the worker that plans has a place free.
begun as (
  insert into ${s}.attempt (effect, number, begun_at, worker)
  select seq, 1, caused_at, worker from wanted where worker is not null and ${among('seq', 'created')}
),
causes as (
  insert into ${s}.cause (effect, receipt, trigger, at)
  select coalesce(known_seq, seq), receipt, trigger, caused_at from wanted where not forgotten and ${among('plan', 'good')}
  union all
  select coalesce(w.known_seq, w.seq), w.receipt, x.trigger, w.caused_at
  from unnest($28::int[], $29::text[]) as x(m, trigger) join wanted w on w.m = x.m where not w.forgotten and ${among('plan', 'good', 'w.plan')}
),
given_up as materialized (
  select g.*, coalesce(g.contradiction, (select json_build_object('recipient', c.recipient, 'key', c.key,
    'planned', c.planned, 'existing', c.existing)::text from clash c where c.n = g.n)) as detail
  from given g where g.conflict and ${isHeld('g.outbox')}
),
${enterQuarantine(s, {
  receipt: 'g.receipt',
  seq: 'g.outbox',
  id: 'g.quarantine',
  reason: "'effect-conflict'",
  detail: 'g.detail',
  owner: 'g.owner',
  at: 'g.at',
  now: nowSql('g.now'),
})}
select g.n::int as plan, null::int as m, g.conflict,
  (${isHeld('g.outbox')}) or (g.conflict and (select true from ${s}.outbox where receipt = g.outbox limit 1) is true) as held,
  c.recipient, c.key, c.planned, c.existing, coalesce((select b.id from returned b where b.receipt = g.outbox), g.quarantine) as quarantine,
  null::text as id, null::boolean as created, ${unmarked} as unmarked
from given g left join clash c on c.n = g.n
union all
select w.plan, w.m::int, null, null, null, null, null, null, null, coalesce(w.known_id, w.id),
  case when w.known_id is not null or (${among('plan', 'good')}) is not true then false
    when ${among('seq', 'created')} then true else ${s}.overtaken() end, null
from wanted w`,
  }
}

/**
 * Runs it, once more where there turn out to be markers.
 *
 * @param quarantines false where the transaction is the caller's: a conflict is told and nothing is written
 */
export async function planAll(
  plans: readonly Plan[],
  { many, one, time, marks }: PlanPorts,
  quarantines: boolean,
  run: Run,
): Promise<Planned[]> {
  let read: (rows: readonly Row[]) => Planned[]
  const parametersOf = (marking: Marking | null) => {
    const made = planParameters(plans, time, quarantines, marking)
    read = made.read
    return made.parameters
  }
  const statement = plans.length === 1 && plans[0]?.effects.length === 1 ? one : many
  const rows = await marks.run(statement, parametersOf, run)
  return read!(rows)
}

export interface PlanPorts {
  readonly many: Statement
  /** For one plan of one effect. */
  readonly one: Statement
  readonly time: Timekeeper
  readonly marks: Marks
}

function planParameters(
  plans: readonly Plan[],
  time: Timekeeper,
  quarantines: boolean,
  marking: Marking | null,
): { parameters: SqlValue[]; read: (rows: readonly Row[]) => Planned[] } {
  const wanted: { plan: Plan; n: number; effect: NewEffect }[] = []
  const further: { m: number; trigger: string }[] = []
  const contradictions = plans.map(contradiction)
  /** For each mention in each plan: its place among `wanted`, and whether it is the first. */
  const mentions = plans.map((plan, index) => {
    const places = new Map<string, number>()
    const triggers = new Set<string>()
    return plan.effects.map((effect) => {
      const name = nameOf(effect)
      const known = places.get(name)
      const cause = `${name} ${effect.trigger}`
      if (known !== undefined && !triggers.has(cause)) further.push({ m: known, trigger: effect.trigger })
      triggers.add(cause)
      if (known !== undefined) return { m: known, first: false }
      const m = wanted.push({ plan, n: index + 1, effect })
      places.set(name, m)
      return { m, first: true }
    })
  })
  const block = new Block()
  const at = wanted.map(({ effect: { recipient, key, fingerprint, request } }) => {
    const bytes = fingerprintToBytes(fingerprint)
    const begins = block.add(bytes)
    block.add(request.nonce)
    block.add(request.ciphertext)
    if (marking !== null) {
      const marker = marking.effect(recipient, key, bytes)
      block.add(marker.digest)
      block.add(marker.content)
    }
    return begins
  })
  const effects = wanted.map(({ effect }) => effect)
  const parameters: SqlValue[] = [
    numbers(plans.map(({ outbox }) => outbox)),
    texts(plans.map(({ receipt }) => receipt)),
    numbers(plans.map((plan) => plan.at)),
    texts(plans.map(({ plannedBy }) => plannedBy)),
    texts(plans.map(({ onConflict }) => onConflict.id)),
    texts(plans.map(({ onConflict }) => onConflict.owner)),
    texts(contradictions.map((found) => found && JSON.stringify(found))),
    String(quarantines),
    numbers(wanted.map(({ n }) => n)),
    texts(effects.map(({ id }) => id)),
    texts(effects.map(({ recipient }) => recipient)),
    texts(effects.map(({ key }) => key)),
    texts(effects.map(({ name }) => name)),
    block.toBytes(),
    numbers(at),
    numbers(effects.map(({ request }) => request.nonce.length)),
    numbers(effects.map(({ request }) => request.ciphertext.length)),
    texts(effects.map((effect) => effect.idempotencyKey)),
    texts(effects.map(({ order }) => order?.domain)),
    numbers(effects.map(({ order }) => order?.version)),
    numbers(effects.map(({ plannedAt }) => plannedAt)),
    texts(effects.map(({ request }) => request.keyId)),
    texts(effects.map(({ trigger }) => trigger)),
    numbers(wanted.map(({ plan }) => plan.outbox)),
    numbers(wanted.map(({ plan }) => plan.at)),
    numbers(wanted.map(({ plan }) => time.now(plan.at))),
    numbers(plans.map((plan) => time.now(plan.at))),
    numbers(further.map(({ m }) => m)),
    texts(further.map(({ trigger }) => trigger)),
    texts(effects.map(({ begin }) => begin?.worker)),
    numbers(effects.map(({ begin }) => begin?.leaseMs)),
    String(marking !== null),
    booleans(effects.map(({ inTurn }) => inTurn === true)),
    texts(effects.map(({ trace }) => trace)),
    booleans(effects.map(({ behind }) => behind === true)),
  ]
  return {
    parameters,
    read(rows) {
      const ofPlan = rows.filter(({ m }) => m === null).sort((a, b) => a.plan - b.plan)
      const ofEffect = new Map(rows.filter(({ m }) => m !== null).map((row) => [row.m as number, row]))
      return ofPlan.map((row, index): Planned => {
        if (row.held !== true) return { kind: 'consumed' }
        if (row.conflict === true) {
          const { recipient, key, planned, existing } = (contradictions[index] ?? row) as Conflict
          return {
            kind: 'conflict',
            recipient,
            key,
            planned,
            existing,
            quarantine: row.quarantine,
          }
        }
        return {
          kind: 'planned',
          effects: mentions[index]!.map(({ m, first }) => {
            const effect = ofEffect.get(m)
            assert(effect !== undefined, 'the plan statement tells of each effect')
            return { id: effect.id as EffectId, created: first && effect.created === true }
          }),
        }
      })
    },
  }
}

/** A key that the plan names twice, with different payloads. */
function contradiction({ effects }: Plan): Omit<Conflict, 'kind' | 'quarantine'> | null {
  const own = new Map<string, Fingerprint>()
  for (const effect of effects) {
    const existing = own.get(nameOf(effect))
    if (existing !== undefined && existing !== effect.fingerprint) {
      const { recipient, key, fingerprint } = effect
      return { recipient, key, planned: fingerprint, existing }
    }
    own.set(nameOf(effect), effect.fingerprint)
  }
  return null
}

function nameOf({ recipient, key }: { readonly recipient: string; readonly key: EffectKey }): string {
  return `${recipient.length}:${recipient}${key}`
}
