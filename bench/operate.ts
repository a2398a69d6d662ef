/**
 * What operators ask with a long history: `npm run bench:operate [-- EFFECTS] [--keep DIRECTORY]`, 10,000,000 unless told
 * otherwise, on a PostgreSQL of its own. The rows are written by SQL, each effect with its receipt, cause, attempt and
 * end; of each 1,000 one was refused, 2,000 are open, and one recipient refused each of the newest half million. Then
 * each page of the operator interface is asked for, and the slowest is told. A directory that is kept is filled once.
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
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

const { values, positionals } = parseArgs({ options: { keep: { type: 'string' } }, allowPositionals: true })
const count = Number(positionals[0] ?? 10_000_000)
const asks = 20
const open = 2_000
const schema = 'counterfoil'
const viewer = { name: 'bench', role: 'viewer' } as const

const filling = { fsync: 'off', synchronous_commit: 'off', autovacuum: 'off', full_page_writes: 'off' }
const memory = { shared_buffers: '1GB', maintenance_work_mem: '512MB', max_wal_size: '8GB' }
const place = values.keep === undefined ? {} : { directory: resolve(values.keep) }
const server = await Server.start(18, { ...filling, ...memory }, place)
try {
  const app = program(server.url())
  await app.store.open({ migrate: true })
  const { effects } = await app.store.status()
  if (effects.total !== count) await fill(effects.total)
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
    ...(['confirmed', 'refused', 'fenced', 'planned'] as const).flatMap((state) =>
      ['bank', 'shut', 'rare'].map(
        (name) =>
          [
            `effects ${state} of ${name}`,
            () => listEffects(app, viewer, { ...one, recipient: name, state }),
          ] as const,
      ),
    ),
    ['effects confirmed', () => listEffects(app, viewer, { ...one, state: 'confirmed' })],
    [
      'effects refused, from the middle',
      () => listEffects(app, viewer, { ...one, state: 'refused', before: effect }),
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
  for (const [name, question] of questions) {
    const times: number[] = []
    for (let asked = 0; asked < asks; asked++) {
      const begun = performance.now()
      await question()
      times.push(performance.now() - begun)
    }
    times.sort((a, b) => a - b)
    const of = (index: number) => times.at(index)!.toFixed(1)
    print([[name, `ms: half within ${of(asks / 2)}, slowest ${of(-1)}`]])
  }
}

/** Every table at its end and then its indexes, two at a time. */
async function fill(known: number): Promise<void> {
  if (known > 0) throw new Error(`there are ${known} effects already, not ${count}: name another directory`)
  const begun = performance.now()
  const indexes = await server.query(
    `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as made from pg_index i
     join pg_class t on t.oid = i.indrelid where t.relnamespace = $1::regnamespace and t.relname = any($2)
     and not exists (select 1 from pg_constraint c where c.conindid = i.indexrelid)`,
    [schema, ['receipt', 'effect', 'cause', 'attempt', 'final']],
  )
  for (const { name } of indexes) await server.query(`drop index ${name}`)
  const all = `generate_series(1, ${count}) as n`
  const digest = 'sha256(n::text::bytea)'
  const time = '(1700000000000 + n)'
  const newest = count - Math.floor(count / 10)
  // `rare` has two effects, the oldest ones; `shut` refused every one that is not old.
  const recipient = `case when n in (7, 8) then 'rare' when n = 9 or n > ${newest} and n % 2 = 0 and n <= ${count - open} then 'shut' else 'bank' end`
  const isRefused = `(n = 8 or n % 1000 = 0 or n > ${newest} and n % 2 = 0)`
  const ended = `case when ${isRefused} then 'refused' else 'confirmed' end`
  await two([
    `insert into receipt (seq, id, delivery, producer, namespace, source, event_id, type, fingerprint, raw_fingerprint, content_type, bytes, signed, origin, received_at)
     select n, 'rcp_' || lpad(n::text, 26, '0'), ${digest}, case n when 7 then 'rare' else 'bench' end, 'bench', '', 'evt_' || n, 'invoice.paid',
       '\\x01'::bytea || ${digest}, '\\x02'::bytea || ${digest}, 'application/json', 100, true, 'live', ${time} from ${all}`,
    `insert into effect (seq, id, recipient, key, name, fingerprint, idempotency_key, planned_at)
     select n, 'eff_' || lpad(n::text, 26, '0'), ${recipient}, 'invoice/' || n || '/collect', 'invoice.collect',
       '\\x01'::bytea || ${digest}, 'cf_' || encode(${digest}, 'hex'), ${time} from ${all}`,
    `insert into plan (receipt, at, by) select n, ${time}, 'bench' from ${all}`,
    `insert into cause (effect, receipt, trigger, at) select n, n, 'collect', ${time} from ${all}`,
    `insert into attempt (effect, number, begun_at, ended_at, outcome, open, why, status, correlation, worker)
     select n, 1, ${time}, ${time}, ${ended}, false, 'answered', 200, 'op_' || n, 'wrk_1' from ${all}`,
    `insert into final (effect, state, version, disputed, escalated, changed_at, recipient)
     select n, ${ended}, 3, false, false, ${time}, case when ${isRefused} then ${recipient} end from generate_series(1, ${count - open}) as n`,
    `insert into open (effect, recipient, state, version, changed_at, attempts, at)
     select n, 'bank', case when n % 4 = 0 then 'unknown' else 'planned' end, 3, ${time}, 1, ${time} from generate_series(${count - open + 1}, ${count}) as n`,
    `insert into tally (name, value) select 'receipts', ${count} union all select state, count(*) from (
       select ${ended} as state from generate_series(1, ${count - open}) as n) f group by state`,
  ])
  await two(indexes.map(({ made }) => made as string))
  await server.query('vacuum (analyze)')
  await server.query('checkpoint')
  const seconds = (performance.now() - begun) / 1_000
  print([['filled', `${count.toLocaleString('en')} effects in ${seconds.toFixed(0)} s`]])
}

async function two(statements: readonly string[]): Promise<void> {
  const left = [...statements]
  const work = async () => {
    for (let sql = left.shift(); sql !== undefined; sql = left.shift()) await server.query(sql, [], schema)
  }
  await Promise.all([work(), work()])
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
    recipients: [bank('bank'), bank('rare'), bank('shut')],
    log: () => {},
  })
}
