import type { RetentionStep } from '../../domain/index.ts'
import { markerBytes } from '../marking.ts'
import { quoted, type Statement } from './statement.ts'

/** Bytes of a receipt's and an effect's numbers and digests, beside its texts. */
const fixedBytes = 200

/** What each step looks at, and how it takes what is done with. */
export function forgetStatements(schema: string): {
  readonly looks: Readonly<Record<RetentionStep, Statement>>
  readonly take: Readonly<Record<RetentionStep, Statement>>
  readonly close: Statement
} {
  const s = quoted(schema)
  const look = (step: RetentionStep, text: string): Statement => ({
    name: `counterfoil_look_${step.replace('-', '_')}`,
    writes: false,
    text,
  })
  const taking = (step: RetentionStep, text: string): Statement => ({
    name: `counterfoil_take_${step.replace('-', '_')}`,
    writes: true,
    text,
  })
  // An effect that nothing more can come of, since $1 at the latest; by the primary keys and cause_effect.
  const is = (from: string) => `(select true from ${s}.${from} limit 1) is true`
  const doneEffect = (
    e: string,
  ) => `(${is(`final f where f.effect = ${e} and not f.disputed and f.changed_at <= $1::bigint`)}
    and not ${is(`open o where o.effect = ${e}`)} and not ${is(`cause x where x.effect = ${e} and x.at > $1::bigint`)})`
  // A receipt that starts no work any more, and all of whose effects are done with, or gone.
  const doneReceipt = `(r.received_at <= $1::bigint and not ${is('outbox o where o.receipt = r.seq')}
    and (${is('plan p where p.receipt = r.seq and p.at <= $1::bigint')} or ${is('quarantine q where q.receipt = r.seq')})
    and not ${is("quarantine q where q.receipt = r.seq and (q.state = 'waiting' or q.attended_at > $1::bigint)")}
    and not ${is(`cause c where c.receipt = r.seq and ${is('effect e where e.seq = c.effect')} and not ${doneEffect('c.effect')}`)})`
  const size = (table: string, of: string) =>
    `coalesce((select octet_length(v.ciphertext) + octet_length(v.nonce) from ${s}.${table} v where v.${of}), 0)`
  const marker = (from: number) =>
    `substring($2::bytea from ((n - 1) * ${2 * markerBytes} + ${from + 1})::int for ${markerBytes})`
  const marked = (those: string) => `
marked as (
  insert into ${s}.retention as r (one, marked) select 1, true where exists (select 1 from ${those})
  on conflict (one) do update set marked = true where not r.marked
)`
  const clear = (name: string, table: string, column: string, those: string) =>
    `${name} as (delete from ${s}.${table} where ${column} = any(array(select seq from ${those})))`
  return {
    looks: {
      payloads: look(
        'payloads',
        `select v.receipt::float8 as place, v.receipt::float8 as seq, octet_length(v.ciphertext) + octet_length(v.nonce) as bytes,
           r.received_at > $1::bigint as young, ${doneReceipt} as done
         from ${s}.vault v cross join lateral (select * from ${s}.receipt where seq = v.receipt limit 1) r
         where v.receipt > $2::bigint order by v.receipt limit $3::int`,
      ),
      requests: look(
        'requests',
        `select v.effect::float8 as place, v.effect::float8 as seq, octet_length(v.ciphertext) + octet_length(v.nonce) as bytes,
           e.planned_at > $1::bigint as young, e.planned_at <= $1::bigint and ${doneEffect('e.seq')} as done
         from ${s}.request v cross join lateral (select * from ${s}.effect where seq = v.effect limit 1) e
         where v.effect > $2::bigint order by v.effect limit $3::int`,
      ),
      // A first receipt waits for those that stand beside it.
      receipts: look(
        'receipts',
        `select r.seq::float8 as place, r.seq::float8 as seq, r.id, r.delivery, r.fingerprint, r.received_at > $1::bigint as young,
           ${doneReceipt} and (r.conflicts_with is not null
             or not ${is('receipt x where x.delivery = r.delivery and x.conflicts_with is not null')}) as done,
           ${fixedBytes} + octet_length(r.event_id) + octet_length(r.type) + octet_length(r.producer) + octet_length(r.source)
             + ${size('vault', 'receipt = r.seq')} as bytes
         from ${s}.receipt r where r.seq > $2::bigint order by r.seq limit $3::int`,
      ),
      effects: look(
        'effects',
        `select e.seq::float8 as place, e.seq::float8 as seq, e.id, e.recipient, e.key, e.fingerprint, e.planned_at > $1::bigint as young,
           e.planned_at <= $1::bigint and ${doneEffect('e.seq')} as done,
           ${fixedBytes} + octet_length(e.key) + octet_length(e.name) + octet_length(e.idempotency_key)
             + coalesce((select sum(100 + coalesce(octet_length(a.why), 0)) from ${s}.attempt a where a.effect = e.seq), 0)::int
             + coalesce((select sum(60 + coalesce(octet_length(v.why), 0)) from ${s}.evidence v where v.effect = e.seq), 0)::int
             + ${size('request', 'effect = e.seq')} as bytes
         from ${s}.effect e where e.seq > $2::bigint order by e.seq limit $3::int`,
      ),
      // receipt_marker_at and effect_marker_at
      'receipt-markers': look(
        'receipt-markers',
        `select event_at::float8 as place, seq::float8 as seq, 40 + octet_length(id) as bytes, false as young, true as done
         from ${s}.receipt_marker m where event_at is not null and event_at < $1::bigint and (event_at, m.seq) > ($2::bigint, $4::bigint)
         order by event_at, m.seq limit $3::int`,
      ),
      'effect-markers': look(
        'effect-markers',
        `select at::float8 as place, seq::float8 as seq, 40 + octet_length(id) as bytes, false as young, true as done
         from ${s}.effect_marker m where m.at < $1::bigint and (m.at, m.seq) > ($2::bigint, $4::bigint) order by m.at, m.seq limit $3::int`,
      ),
    },
    // Each by a primary key, or by the index of what it belongs to.
    take: {
      payloads: taking('payloads', `delete from ${s}.vault where receipt = any($1::bigint[])`),
      requests: taking('requests', `delete from ${s}.request where effect = any($1::bigint[])`),
      receipts: taking(
        'receipts',
        `
with given as materialized (
  select seq, ${marker(0)} as digest, ${marker(markerBytes)} as content from unnest($1::bigint[]) with ordinality as g(seq, n)
),
gone as (
  delete from ${s}.receipt where seq = any($1::bigint[]) returning seq, id, event_at, conflicts_with
),
-- One that stood beside the first is known by the first one's marker.
kept as (
  insert into ${s}.receipt_marker (seq, digest, content, id, event_at)
  select g.seq, (select i.digest from given i where i.seq = g.seq), (select i.content from given i where i.seq = g.seq), g.id, g.event_at
  from gone g where g.conflicts_with is null returning seq
),
${marked('kept')},
noted as (
  delete from ${s}.quarantine_note where entry = any(array(
    select q.seq from ${s}.quarantine q where q.receipt = any(array(select seq from gone))))
),
${clear('held', 'quarantine', 'receipt', 'gone')},
${clear('causes', 'cause', 'receipt', 'gone')},
${clear('sealed', 'vault', 'receipt', 'gone')},
${clear('plans', 'plan', 'receipt', 'gone')},
${clear('copies', 'duplicate', 'receipt', 'gone')},
counted as materialized (select (select count(*) from gone) as gone, (select count(*) from kept) as kept)
insert into ${s}.tally (name, value)
select 'receipts', -gone from counted where gone > 0 union all select 'receipt markers', kept from counted where kept > 0`,
      ),
      effects: taking(
        'effects',
        `
with given as materialized (
  select seq, ${marker(0)} as digest, ${marker(markerBytes)} as content from unnest($1::bigint[]) with ordinality as g(seq, n)
),
ended as (
  delete from ${s}.final where effect = any($1::bigint[]) and not disputed returning effect, state, changed_at
),
gone as (
  delete from ${s}.effect where seq = any(array(select effect from ended)) returning seq, id
),
kept as (
  insert into ${s}.effect_marker (seq, digest, content, id, at)
  select g.seq, (select i.digest from given i where i.seq = g.seq), (select i.content from given i where i.seq = g.seq), g.id,
    (select f.changed_at from ended f where f.effect = g.seq)
  from gone g returning seq
),
${marked('kept')},
${clear('requests', 'request', 'effect', 'gone')},
${clear('causes', 'cause', 'effect', 'gone')},
${clear('attempts', 'attempt', 'effect', 'gone')},
${clear('learned', 'evidence', 'effect', 'gone')},
counted as materialized (
  select (select count(*) from kept) as kept, (select count(*) from ended where state = 'confirmed') as confirmed
)
insert into ${s}.tally (name, value)
select 'confirmed', -confirmed from counted where confirmed > 0 union all select 'effect markers', kept from counted where kept > 0`,
      ),
      'receipt-markers': dropping('receipt_marker', 'receipt markers'),
      'effect-markers': dropping('effect_marker', 'effect markers'),
    },
    close: {
      name: 'counterfoil_close',
      writes: true,
      text: `insert into ${s}.retention as r (one, boundary) values (1, $1::bigint)
        on conflict (one) do update set boundary = excluded.boundary where r.boundary < excluded.boundary`,
    },
  }

  function dropping(table: string, total: string): Statement {
    return {
      name: `counterfoil_drop_${table}`,
      writes: true,
      text: `
with gone as (delete from ${s}.${table} where seq = any($1::bigint[]) returning seq)
insert into ${s}.tally (name, value) select '${total}', -n from (select count(*) as n from gone) c where n > 0`,
    }
  }
}
