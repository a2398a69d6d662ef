/**
 * Quarantine with many entries: one process fills it, another lists, filters and reprocesses, held to a small heap:
 * `npm run bench:quarantine [-- ENTRIES]`. Every page is timed; the slowest is quoted beside the median.
 */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Counterfoil, counterfoil, producer, trigger } from 'counterfoil'
import { standardWebhooks } from 'counterfoil/producers'
import { sqlite } from 'counterfoil/sqlite'
import { dryRunMany, runMany } from '../packages/counterfoil/src/operate/index.ts'
import type { QuarantineQuery } from '../packages/counterfoil/src/store/index.ts'
import { delivery, secret } from './deliveries.ts'
import { concurrently, percentile, print } from './figures.ts'
import { benchDirectory } from './setup.ts'

const types = Array.from({ length: 50 }, (_, index) => `invoice.kind_${index}`)
/** One in so many is of this type: a filter that leaves nearly nothing over. */
const rare = 'invoice.rare'
const rareEvery = 20_000
const pageLimit = 100
/** Of the run over many that is timed. */
const batches = 80

const [what = '100000', directory = '', count = '0'] = process.argv.slice(2)
const megabytes = () => `${(process.memoryUsage.rss() / 1e6).toFixed(0)} MB`

if (what === 'fill') await fill(Number(count))
else if (what === 'work') await work()
else both(Number(what))

function both(entries: number): void {
  const place = benchDirectory()
  const vaultKey = `bench:${randomBytes(32).toString('base64')}`
  for (const part of ['fill', 'work']) {
    const heap = ['--max-semi-space-size=4', '--max-old-space-size=96', '--conditions=counterfoil:source']
    const env = { ...process.env, MALLOC_ARENA_MAX: '1', COUNTERFOIL_VAULT_KEYS: vaultKey }
    const parameters = [...heap, import.meta.filename, part, place, String(entries)]
    spawnSync(process.execPath, parameters, { stdio: 'inherit', env })
  }
  rmSync(place, { recursive: true })
}

async function fill(entries: number): Promise<void> {
  const app = program('nothing')
  await app.start({ work: false })
  await concurrently(entries, 64, async (index) => {
    const type = index % rareEvery === 0 ? rare : types[index % types.length]
    const response = await app.receive(delivery('q', index, type))
    if (response.status !== 202) throw new Error(`${response.status}: ${await response.text()}`)
  })
  const { quarantine } = await app.store.status()
  await app.stop()
  print([['entries waiting', quarantine.toLocaleString('en')]])
}

async function work(): Promise<void> {
  const app = program('triggers')
  await app.start({ work: false })
  const asked: readonly (readonly [string, Omit<QuarantineQuery, 'limit'>])[] = [
    ['all that waits', { state: 'waiting' }],
    ['by producer', { state: 'waiting', producer: 'bench' }],
    ['by type', { state: 'waiting', type: 'invoice.kind_7' }],
    ['by a rare type', { state: 'waiting', type: rare }],
    ['by reason and owner', { state: 'waiting', reason: 'unsupported-type', owner: 'operators' }],
    ['assigned to nobody', { state: 'waiting', assignee: null }],
    ['assigned to somebody who has nothing', { state: 'waiting', assignee: 'nobody else' }],
    ['by age, where nothing is that old', { state: 'waiting', until: 1 }],
    ['by a text that one event id holds', { state: 'waiting', event: 'q_1_' }],
    ['of whatever state', {}],
    ['dismissed, of which there are none', { state: 'dismissed' }],
  ]
  for (const [name, query] of asked) {
    const { times, found } = await pages(app, query)
    print([[name, `${found.toLocaleString('en')} found, ${figures(times)}, ${megabytes()}`]])
  }
  const operator = { name: 'bench', role: 'approver' } as const
  const many = { act: 'reprocess', filter: { producer: 'bench' } } as const
  const begun = performance.now()
  const { digest, entries } = await dryRunMany(app, operator, many)
  print([['dry run', `${entries.toLocaleString('en')} entries, ${seconds(begun)}, ${megabytes()}`]])
  await app.stop()
  await app.start()
  const act = { operator, reason: 'bench', decision: 'bench' }
  await reprocess(app, { ...many, digest }, act)
  await app.stop()
}

/** One batch a call, as a resumed run has it; the relay of the same process plans meanwhile what is released. */
async function reprocess(
  app: Counterfoil,
  many: Parameters<typeof runMany>[1],
  act: Parameters<typeof runMany>[2],
): Promise<void> {
  const begun = performance.now()
  await runMany(app, many, act, { maxBatches: 1 })
  print([['check of the digest and first batch', seconds(begun)]])
  const times: number[] = []
  const marks: string[] = []
  let released = 0
  for (let batch = 0; batch < batches; batch++) {
    const batchBegun = performance.now()
    released = (await runMany(app, many, act, { maxBatches: 1 })).released
    times.push(performance.now() - batchBegun)
    if ((batch + 1) % (batches / 4) === 0) marks.push(megabytes())
  }
  print([
    ['batches of 50 reprocessed', `${released.toLocaleString('en')} released, ${figures(times)}`],
    ['resident, at each quarter', marks.join(', ')],
  ])
}

async function pages(app: Counterfoil, query: Omit<QuarantineQuery, 'limit'>) {
  const times: number[] = []
  let found = 0
  let before: string | undefined
  for (;;) {
    const place = before === undefined ? {} : { before }
    const begun = performance.now()
    const { entries, next } = await app.store.listQuarantine({ ...query, ...place, limit: pageLimit })
    times.push(performance.now() - begun)
    found += entries.length
    if (next === null) return { times, found }
    before = next
  }
}

function figures(times: readonly number[]): string {
  const of = (share: number) => percentile(times, share).toFixed(1)
  return `${times.length} pages, ms a page: p50 ${of(0.5)}, p99 ${of(0.99)}, slowest ${Math.max(...times).toFixed(1)}`
}

function seconds(begun: number): string {
  return `${((performance.now() - begun) / 1000).toFixed(1)} s`
}

function program(deployed: 'nothing' | 'triggers'): Counterfoil {
  const bench = producer('bench', standardWebhooks({ secrets: secret }))
  const on = [...types, rare].map((type) => bench.event(type))
  return counterfoil({
    store: sqlite(join(directory, 'counterfoil.db')),
    producers: [bench],
    triggers: deployed === 'triggers' ? [trigger('take all kinds', { on, plan: () => {} })] : [],
    recipients: [],
    onAlert: () => {},
    log: () => {},
  })
}
