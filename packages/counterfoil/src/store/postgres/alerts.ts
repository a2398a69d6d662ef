import type { Fingerprint, Instant } from '../../domain/index.ts'
import { fingerprintToBytes } from '../digest.ts'
import type { Marking } from '../marking.ts'
import type { AlertPlan, AlertPlanned, SqlValue } from '../store.ts'
import type { Row } from './connection.ts'
import { fingerprintText, keyed, quoted, type Statement } from './statement.ts'
import { nowSql, type Timekeeper } from './time.ts'

export function consumeAlertStatement(schema: string): Statement {
  return {
    name: 'counterfoil_consume_alert',
    writes: true,
    text: `delete from ${quoted(schema)}.alert where seq = $1::bigint`,
  }
}

/**
 * An alert is consumed as an outbox record is, and its effect has the causes of what it is about. When another
 * transaction commits the effect meanwhile, the statement ends with a serialization failure and is run again.
 */
export function planAlertStatement(schema: string): Statement {
  const s = quoted(schema)
  const unmarked = `($17::bytea is null and (select marked from ${s}.retention where one = 1) is true)`
  return {
    name: 'counterfoil_plan_alert',
    writes: true,
    text: `
-- effect_key and a marker's digest, one probe each.
with known as materialized (
  select seq, fingerprint from ${s}.effect where key = $4::text and recipient = $3::text limit 1
),
forgotten as materialized (
  select content from ${s}.effect_marker where digest = $17::bytea and not exists (select 1 from known) limit 1
),
consumed as (
  delete from ${s}.alert where seq = $1::bigint and not exists (select 1 from known where fingerprint <> $6::bytea)
    and not exists (select 1 from forgotten where content <> $18::bytea) and not ${unmarked}
  returning receipt, effect
),
created as (
  insert into ${s}.effect (seq, id, recipient, key, name, fingerprint, idempotency_key, order_domain, order_version, planned_at)
  select nextval('${s}.effect_seq'), $2::text, $3::text, $4::text, $5::text, $6::bytea, $7::text, $8::text, $9::bigint, $10::bigint
  from consumed where not exists (select 1 from known) and not exists (select 1 from forgotten)
  on conflict (key, recipient) do nothing returning seq
),
requested as (
  insert into ${s}.request (effect, key_id, nonce, ciphertext) select seq, $11::text, $12::bytea, $13::bytea from created
),
opened as (
  insert into ${s}.open (effect, recipient, state, version, changed_at, at)
  select seq, $3::text, 'planned', 1, $10::bigint, ${nowSql('$16::bigint')} + $10::bigint - $15::bigint from created
),
-- The unique indexes of both ids, then cause_effect.
causing as materialized (
  select r.seq as receipt from consumed a cross join lateral (select seq from ${s}.receipt where id = a.receipt limit 1) r
  union
  select c.receipt from consumed a cross join lateral (select seq from ${s}.effect where id = a.effect limit 1) e
  cross join lateral (select receipt from ${s}.cause where effect = e.seq) c
),
causes as (
  insert into ${s}.cause (effect, receipt, trigger, at)
  select e.seq, c.receipt, $14::text, $15::bigint from (select seq from known union all select seq from created) e cross join causing c
  where not exists (select 1 from ${s}.cause x where x.effect = e.seq and x.receipt = c.receipt and x.trigger = $14::text)
)
select (select ${fingerprintText('fingerprint')} from known where fingerprint <> $6::bytea) as existing,
  exists (select 1 from forgotten where content <> $18::bytea) as differs, ${unmarked} as unmarked,
  exists (select 1 from consumed) as consumed,
  case when not exists (select 1 from consumed) or exists (select 1 from known) or exists (select 1 from forgotten) then false
    when exists (select 1 from created) then true else ${s}.overtaken() end as created`,
  }
}

/** @param marking null while there are no markers */
export function planAlertParameters(
  { outbox, at, effect }: AlertPlan,
  time: Timekeeper,
  marking: Marking | null,
): SqlValue[] {
  const { order, request, plannedAt } = effect
  const fingerprint = fingerprintToBytes(effect.fingerprint)
  const marker = marking?.effect(effect.recipient, effect.key, fingerprint)
  return [
    -outbox,
    effect.id,
    effect.recipient,
    effect.key,
    effect.name,
    fingerprint,
    effect.idempotencyKey,
    order?.domain ?? null,
    order?.version ?? null,
    plannedAt,
    request.keyId,
    request.nonce,
    request.ciphertext,
    effect.trigger,
    at,
    time.now(at),
    marker?.digest ?? null,
    marker?.content ?? null,
  ]
}

export function toAlertPlanned({ existing, differs, consumed, created }: Row): AlertPlanned {
  if (existing !== null || differs) return { kind: 'conflict', existing: existing as Fingerprint | null }
  return consumed ? { kind: 'planned', created } : { kind: 'consumed' }
}

/** By quarantine_unattended; who raises at the same time takes other entries. */
export function alertUnattendedStatement(schema: string): Statement {
  const s = quoted(schema)
  return {
    name: 'counterfoil_alert_unattended',
    writes: true,
    text: `
with picked as materialized (
  select seq from ${s}.quarantine where state = 'waiting' and assignee is null and attended_at <= $2::bigint
  order by attended_at limit $4::int for update skip locked
),
attended as (
  update ${s}.quarantine q set attended_at = $1::bigint where ${keyed('q.seq', 'picked', 'seq')}
  returning q.id, q.receipt
),
alerted as (
  insert into ${s}.alert (at, raised_at, reason, owner, receipt, quarantine, occasion)
  select ${nowSql('$5::bigint')}, $1::bigint, 'unattended', $3::text, r.id, a.id, 'unattended/' || $1::bigint
  from attended a cross join lateral (select id from ${s}.receipt where seq = a.receipt limit 1) r
)
select count(*)::int as raised from attended`,
  }
}

export function alertUnattendedParameters(
  about: { readonly now: Instant; readonly since: Instant; readonly owner: string; readonly limit: number },
  time: Timekeeper,
): SqlValue[] {
  const { now, since, owner, limit } = about
  return [now, since, owner, limit, time.now(now)]
}
