/**
 * A backfill on SQLite and on PostgreSQL, in processes that are held to a small heap, killed with -9 three times and
 * started again, while live deliveries come at a steady rate: `npm run bench:backfill [-- EVENTS [sqlite|postgres]]`.
 * The live latency is quoted beside that of the same server before the backfill begins.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Counterfoil, counterfoil, producer, type Store, trigger } from 'counterfoil'
import { postgres } from 'counterfoil/postgres'
import { standardWebhooks } from 'counterfoil/producers'
import { sqlite } from 'counterfoil/sqlite'
import { approveBackfill, beginBackfill, planBackfill } from '../packages/counterfoil/src/operate/index.ts'
import { serve } from '../packages/counterfoil/src/server/index.ts'
import { Server } from '../packages/counterfoil/src/store/postgres/fixtures/server.ts'
import { key, signed } from './deliveries.ts'
import { percentile, print } from './figures.ts'
import { benchDirectory } from './setup.ts'

const operator = { name: 'bench', role: 'approver' } as const
const livePerSecond = 100
const idleMs = 60_000
const kills = 3
const [what = '1000000', only = ''] = process.argv.slice(2)

async function all(events: number): Promise<void> {
  process.env.BENCH_KEY = key
  process.env.COUNTERFOIL_VAULT_KEYS = `bench:${randomBytes(32).toString('base64')}`
  process.env.MALLOC_ARENA_MAX = '1'
  const directory = benchDirectory()
  process.env.BENCH_PLACE = directory
  try {
    await write(join(directory, 'events.jsonl'), events)
    if (only !== 'postgres') await measure('SQLite', events, sqlite(join(directory, 'counterfoil.db')))
    if (only === 'sqlite') return
    const server = await Server.start(18)
    process.env.BENCH_DATABASE = server.url()
    await measure('PostgreSQL 18', events, postgres(server.url())).finally(() => server.dispose())
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** About 1 kB each, as a vendor's export has them: the id stands beside the payload. */
async function write(path: string, events: number): Promise<void> {
  const file = createWriteStream(path)
  const lines = Array.from({ length: 9 }, (_, line) => ({
    line,
    description: `A thing that was bought, number ${line}`,
  }))
  for (let index = 0; index < events; index++) {
    const payload = {
      type: 'invoice.paid',
      timestamp: new Date(1_700_000_000_000 + index * 1_000).toISOString(),
      data: { id: `old-${index}`, customer: `cus_${index % 977}`, amount: index, lines },
    }
    const line = `${JSON.stringify({ headers: { 'webhook-id': `old_${index}` }, payload })}\n`
    if (!file.write(line)) await once(file, 'drain')
  }
  file.end()
  await once(file, 'close')
}

async function measure(name: string, events: number, store: Store): Promise<void> {
  const planning = new Child('plan')
  const { seconds } = (await planning.told()) as { seconds: number }
  await planning.ended()
  let server = new Child('serve')
  const live = new Live(async () => ((await server.told()) as { url: string }).url)
  await live.warm()
  const idle = await live.during(() => sleep(idleMs))
  await store.open({ migrate: false })
  const act = { operator, reason: 'bench', decision: 'run' }
  const begun = performance.now()
  await beginBackfill({ ...program(), store } as Counterfoil, 'bench', null, act)
  const peaks: number[] = []
  const items = async () => (await store.showBackfill('bench'))!.run.items
  const busy = await live.during(async () => {
    for (let kill = 1; kill <= kills; kill++) {
      while ((await items()) < (events * kill) / (kills + 1)) await sleep(50)
      peaks.push(server.peak)
      await live.untimed(async () => {
        await server.kill()
        server = new Child('serve')
        await live.warm()
      })
    }
    while ((await store.showBackfill('bench'))!.state === 'running') await sleep(50)
    peaks.push(server.peak)
  })
  const tookMs = performance.now() - begun
  const backfill = (await store.showBackfill('bench'))!
  while ((await store.backlog()) > 0) await sleep(100)
  const { receipts } = await store.status()
  await store.close()
  await server.kill()
  const exact =
    backfill.run.counts.new === events &&
    backfill.run.items === events &&
    receipts.total === events + live.acknowledged &&
    receipts.byState.planned === receipts.total
  const figures = (times: readonly number[]) =>
    `p50 ${percentile(times, 0.5).toFixed(2)}, p99 ${percentile(times, 0.99).toFixed(2)} (${times.length} deliveries)`
  print([
    [name, `${events.toLocaleString('en')} events, ${backfill.state}`],
    ['plan', `${seconds.toFixed(1)} s, largest resident ${megabytes(planning.peak)}`],
    [
      'run, with three kills and starts',
      `${(tookMs / 1_000).toFixed(1)} s, ${Math.round((events * 1_000) / tookMs)} a second`,
    ],
    ['largest resident of each server process', peaks.map(megabytes).join(', ')],
    [`live, ${livePerSecond} a second, idle, ms`, figures(idle)],
    ['live while it runs, ms', figures(busy)],
    ['ratio of the p99', (percentile(busy, 0.99) / percentile(idle, 0.99)).toFixed(2)],
    [
      'report',
      `${backfill.run.counts.new} new of ${backfill.run.items}, ${live.acknowledged} live, ${receipts.byState.planned} of ${receipts.total} receipts planned: ${exact ? 'exact' : 'NOT EXACT'}`,
    ],
  ])
  if (!exact) process.exitCode = 1
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`
}

/** A process of this file, held to a small heap: what grew with the number of events would not fit. */
class Child {
  peak = 0
  readonly #process: ChildProcess
  readonly #message: Promise<unknown>

  constructor(part: 'plan' | 'serve') {
    this.#process = fork(import.meta.filename, [part], {
      execArgv: ['--max-semi-space-size=8', '--max-old-space-size=96', '--conditions=counterfoil:source'],
    })
    this.#message = new Promise((resolve, reject) => {
      this.#process.on('message', (message: { rss?: number }) => {
        if (message.rss === undefined) resolve(message)
        else this.peak = Math.max(this.peak, message.rss)
      })
      this.#process.once('exit', () => reject(new Error(`the ${part} process ended`)))
    })
  }

  told(): Promise<unknown> {
    return this.#message
  }

  async ended(): Promise<void> {
    if (this.#process.exitCode === null) await once(this.#process, 'exit')
  }

  async kill(): Promise<void> {
    const ended = once(this.#process, 'exit')
    this.#process.kill('SIGKILL')
    await ended
  }
}

/** Deliveries at a steady rate, whether or not those before were answered; each is sent until it is acknowledged. */
class Live {
  acknowledged = 0
  readonly #find: () => Promise<string>
  #url = ''
  #times: number[] | null = null
  #next = 0

  constructor(find: () => Promise<string>) {
    this.#find = find
  }

  async warm(): Promise<void> {
    this.#url = await this.#find()
    for (let index = 0; index < 200; index++) await this.#deliver(false)
  }

  /** A process that starts is slow by itself: that is no latency of a backfill. */
  async untimed(what: () => Promise<unknown>): Promise<void> {
    const times = this.#times
    this.#times = null
    await what()
    this.#times = times
  }

  async during(what: () => Promise<unknown>): Promise<number[]> {
    const times: number[] = []
    const sent: Promise<void>[] = []
    this.#times = times
    const timer = setInterval(() => sent.push(this.#deliver(true)), 1_000 / livePerSecond)
    await what()
    clearInterval(timer)
    await Promise.all(sent)
    this.#times = null
    return times
  }

  async #deliver(counts: boolean): Promise<void> {
    const index = this.#next++
    const request = signed(`live_${index}`, { id: `live-${index}` })
    // The same bytes with each try: others under this id would be a conflict.
    const init = { method: 'POST', headers: request.headers, body: await request.text() }
    for (;;) {
      const begun = performance.now()
      const ok = await fetch(`${this.#url}/in/bench`, init).then(
        async (response) => {
          await response.arrayBuffer()
          return response.ok
        },
        () => false,
      )
      if (ok) {
        this.acknowledged++
        // A server that was killed answers nobody: that is no latency of a backfill.
        if (counts) this.#times?.push(performance.now() - begun)
        return
      }
      await sleep(100)
    }
  }
}

function program(): Counterfoil {
  const bench = producer('bench', standardWebhooks({ secrets: `whsec_${process.env.BENCH_KEY}` }))
  const { BENCH_DATABASE: database, BENCH_PLACE: place = '.' } = process.env
  return counterfoil({
    store: database === undefined ? sqlite(join(place, 'counterfoil.db')) : postgres(database),
    triggers: [trigger('take note', { on: bench.event('invoice.paid'), plan: () => {} })],
    recipients: [],
    log: () => {},
  })
}

async function plan(): Promise<void> {
  const timer = watch()
  const app = program()
  await app.store.open({ migrate: true })
  const begun = performance.now()
  const from = join(process.env.BENCH_PLACE ?? '.', 'events.jsonl')
  const planned = await planBackfill(app, operator, { name: 'bench', producer: 'bench', from })
  const seconds = (performance.now() - begun) / 1_000
  const act = { operator, reason: 'bench', decision: 'approve' }
  await approveBackfill(app, 'bench', { digest: planned.plan.digest }, act)
  await app.store.close()
  clearInterval(timer)
  process.send!({ seconds }, () => process.disconnect())
}

async function serving(): Promise<void> {
  watch()
  const server = await serve(program(), { port: 0 })
  process.send!({ url: server.url })
}

function watch(): NodeJS.Timeout {
  return setInterval(() => process.send!({ rss: process.memoryUsage.rss() }), 200)
}

if (what === 'plan') await plan()
else if (what === 'serve') await serving()
else await all(Number(what))
