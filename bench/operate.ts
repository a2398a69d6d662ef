/**
 * What operators ask with a long history: `npm run bench:operate [-- EFFECTS]`, 10,000,000 unless told otherwise, on a
 * PostgreSQL of its own. The rows are written by SQL, each effect with its receipt, cause, attempt and end; of each 1,000
 * one was refused, and 2,000 are open. Then each page of the operator interface is asked for, and the slowest is told.
 */
import { type Counterfoil, counterfoil, producer, recipient } from 'counterfoil'
import { postgres } from 'counterfoil/postgres'
import { standardWebhooks } from 'counterfoil/producers'
import {
  listEffects,
  listReceipts,
  listRecipients,
  listUnknown,
  overview,
  search,
  showEffect,
  showReceipt,
} from '../packages/counterfoil/src/operate/index.ts'
import { Server } from '../packages/counterfoil/src/store/postgres/fixtures/server.ts'
import { secret } from './deliveries.ts'
import { print } from './figures.ts'

const [effects = '10000000'] = process.argv.slice(2)
const count = Number(effects)
const asks = 20
const open = 2_000
const schema = 'counterfoil'
const viewer = { name: 'bench', role: 'viewer' } as const

const filling = { fsync: 'off', synchronous_commit: 'off', autovacuum: 'off' }
const memory = { shared_buffers: '1GB', maintenance_work_mem: '512MB', max_wal_size: '8GB' }
const server = await Server.start(18, { ...filling, ...memory })
try {
  const app = program(server.url())
  await app.store.open({ migrate: true })
  const begun = performance.now()
  await fill()
  print([
    [
      'filled',
      `${count.toLocaleString('en')} effects in ${((performance.now() - begun) / 1000).toFixed(0)} s`,
    ],
  ])
  await ask(app)
  await app.store.close()
} finally {
  await server.dispose()
}

async function ask(app: Counterfoil): Promise<void> {
  const middle = Math.floor(count / 2)
  const effect = id('eff', middle)
  const receipt = id('rcp', middle)
  const one = { limit: 50 }
  const questions: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['overview', () => overview(app, viewer)],
    ['recipients', () => listRecipients(app, viewer)],
    ['receipts', () => listReceipts(app, viewer, one)],
    ['receipts, from the middle', () => listReceipts(app, viewer, { ...one, before: receipt })],
    [
      'receipts of a producer that sent one, long ago',
      () => listReceipts(app, viewer, { ...one, producer: 'rare' }),
    ],
    ['receipts in quarantine', () => listReceipts(app, viewer, { ...one, state: 'quarantined' })],
    ['receipt', () => showReceipt(app, viewer, receipt)],
    ['effects', () => listEffects(app, viewer, one)],
    ['effects, from the middle', () => listEffects(app, viewer, { ...one, before: effect })],
    ['effects refused', () => listEffects(app, viewer, { ...one, state: 'refused' })],
    ['effects planned', () => listEffects(app, viewer, { ...one, state: 'planned' })],
    [
      'effects of a recipient with one, long ago',
      () => listEffects(app, viewer, { ...one, recipient: 'rare' }),
    ],
    [
      'effects confirmed of a recipient',
      () => listEffects(app, viewer, { ...one, recipient: 'bank', state: 'confirmed' }),
    ],
    ['effect', () => showEffect(app, viewer, effect)],
    ['unknown', () => listUnknown(app, viewer, one)],
    ['search: effect id', () => search(app, viewer, effect)],
    ['search: beginning of an effect key', () => search(app, viewer, `invoice/${middle}`)],
    ['search: event id', () => search(app, viewer, `evt_${middle}`)],
    ['search: the recipient’s own id', () => search(app, viewer, `op_${middle}`)],
    ['search: fingerprint', () => search(app, viewer, 'ab'.repeat(32))],
    ['search: a name of nothing', () => search(app, viewer, 'nothing')],
  ]
  const rows: [string, string][] = []
  for (const [name, question] of questions) {
    const times: number[] = []
    for (let asked = 0; asked < asks; asked++) {
      const begun = performance.now()
      await question()
      times.push(performance.now() - begun)
    }
    times.sort((a, b) => a - b)
    const of = (index: number) => times.at(index)!.toFixed(1)
    rows.push([name, `ms: half within ${of(asks / 2)}, slowest ${of(-1)}`])
  }
  print(rows)
}

async function fill(): Promise<void> {
  const indexes = await server.query(
    `select indexname, indexdef from pg_indexes where schemaname = $1
     and tablename in ('receipt', 'effect', 'cause', 'attempt', 'final') and indexdef not like '%UNIQUE%'`,
    [schema],
  )
  for (const { indexname } of indexes) await server.query(`drop index ${schema}.${indexname}`)
  const all = `generate_series(1, ${count}) as n`
  const digest = 'sha256(n::text::bytea)'
  const time = '(1700000000000 + n)'
  for (const sql of [
    `insert into receipt (seq, id, delivery, producer, namespace, source, event_id, type, fingerprint, raw_fingerprint, content_type, bytes, signed, origin, received_at)
     select n, 'rcp_' || lpad(n::text, 26, '0'), ${digest}, case n when 7 then 'rare' else 'bench' end, 'bench', '', 'evt_' || n, 'invoice.paid',
       '\\x01'::bytea || ${digest}, '\\x02'::bytea || ${digest}, 'application/json', 100, true, 'live', ${time} from ${all}`,
    `insert into plan (receipt, at, by) select n, ${time}, 'bench' from ${all}`,
    `insert into effect (seq, id, recipient, key, name, fingerprint, idempotency_key, planned_at)
     select n, 'eff_' || lpad(n::text, 26, '0'), case n when 7 then 'rare' else 'bank' end, 'invoice/' || n || '/collect', 'invoice.collect',
       '\\x01'::bytea || ${digest}, 'cf_' || encode(${digest}, 'hex'), ${time} from ${all}`,
    `insert into cause (effect, receipt, trigger, at) select n, n, 'collect', ${time} from ${all}`,
    `insert into attempt (effect, number, begun_at, ended_at, outcome, open, why, status, correlation, worker)
     select n, 1, ${time}, ${time}, case when n % 1000 = 0 then 'refused' else 'confirmed' end, false, 'answered', 200, 'op_' || n, 'wrk_1' from ${all}`,
    `insert into final (effect, state, version, disputed, escalated, changed_at)
     select n, case when n % 1000 = 0 then 'refused' else 'confirmed' end, 3, false, false, ${time} from generate_series(1, ${count - open}) as n`,
    `insert into open (effect, recipient, state, version, changed_at, attempts, at)
     select n, 'bank', case when n % 4 = 0 then 'unknown' else 'planned' end, 3, ${time}, 1, ${time} from generate_series(${count - open + 1}, ${count}) as n`,
    `insert into tally values ('receipts', ${count}), ('confirmed', ${count - open - Math.floor((count - open) / 1000)}), ('refused', ${Math.floor((count - open) / 1000)})`,
  ]) {
    await server.query(sql, [], schema)
  }
  for (const { indexdef } of indexes) await server.query(indexdef)
  await server.query('vacuum (analyze)')
}

function id(prefix: string, n: number): string {
  return `${prefix}_${String(n).padStart(26, '0')}`
}

function program(url: string): Counterfoil {
  const contract = { lookup: { by: 'function', absence: { final: false } } } as const
  const bank = (name: string) =>
    recipient(name, { contract, call: async () => ({}), lookup: async () => 'nothing' as const })
  return counterfoil({
    store: postgres(url, { schema }),
    producers: [producer('bench', standardWebhooks({ secrets: secret }))],
    triggers: [],
    recipients: [bank('bank'), bank('rare')],
    log: () => {},
  })
}
