/** The three ways of measuring, and what each tells. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { concurrently, percentile } from '../figures.ts'
import type { Contender, Place } from './contender.ts'
import { makeItem, makeItems } from './items.ts'
import { serverCpuUs } from './server-cpu.ts'

/** What one run of a case gives. Rates are a second, times ms, memory MB, WAL kB and CPU µs an item. */
export interface Figure {
  readonly rate?: number
  readonly p50?: number
  readonly p99?: number
  readonly walKb?: number
  /** Of the process under measure. */
  readonly cpuUs?: number
  /** Of PostgreSQL. */
  readonly serverUs?: number | undefined
  readonly rssMb?: number
}

export interface Amounts {
  /** Callers that wait for their own commit at once. */
  readonly callers: number
  /** How long items are sent, in seconds. */
  readonly seconds: number
  /** Items that wait when the work begins. */
  readonly waiting: number
  /** Single events on an idle system. */
  readonly events: number
  /** Finished items beside which the work is done. */
  readonly old: number
}

const portion = 2_000

/** Items a second, each caller waiting for the commit of its own, after a warm-up of as many as a portion holds. */
export async function sendingRate(
  contender: Contender,
  place: Place,
  { callers, seconds }: Amounts,
): Promise<Figure> {
  const sending = await contender.sending!(place)
  const database = await databaseOf(place)
  /** For that time, or one whole portion when it is 0. */
  const round = async (ms: number) => {
    const times: number[] = []
    let [spent, cpuUs] = [0, 0]
    do {
      const prepared: unknown[] = []
      for (const item of makeItems(portion)) prepared.push(await sending.prepare(item))
      const end = ms === 0 ? Number.POSITIVE_INFINITY : performance.now() + ms - spent
      let sent = 0
      const cpu = process.cpuUsage()
      const begun = performance.now()
      const some = await concurrently(portion, callers, async (index) => {
        if (performance.now() >= end) return
        sent++
        await sending.send(prepared[index])
      })
      spent += performance.now() - begun
      const { user, system } = process.cpuUsage(cpu)
      cpuUs += user + system
      for (const time of some.slice(0, sent)) times.push(time)
    } while (spent < ms)
    return { times, ms: spent, cpuUs }
  }
  await round(0)
  await database.run('checkpoint')
  const used = await usage(database, place)
  const { times, ms, cpuUs } = await round(seconds * 1_000)
  const costs = await used(times.length)
  await sending.close()
  await database.close()
  return {
    rate: times.length / (ms / 1_000),
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    ...costs,
    cpuUs: cpuUs / times.length,
  }
}

/** Makes what waits, and the old items beside it; a process of its own does it, so that work begins in a fresh one. */
export async function fill(contender: Contender, place: Place, { waiting, old }: Amounts): Promise<void> {
  if (old > 0) await contender.aged!(place, old)
  await contender.filled!(place, makeItems(waiting))
  const database = await databaseOf(place)
  await database.run('vacuum analyze')
  await database.close()
}

/**
 * Waiting items a second until the database holds the end of each. `a tenth`: the clock starts when a tenth is
 * done. `start`: it starts with the worker, for work of several stages that may run ahead of each other.
 */
export async function workingRate(
  contender: Contender,
  place: Place,
  { waiting }: Amounts,
  from: 'a tenth' | 'start' = 'a tenth',
): Promise<Figure> {
  const memory = watchMemory()
  const database = await databaseOf(place)
  await database.run('checkpoint')
  const warm = from === 'start' ? 0 : Math.floor(waiting / 10)
  let acted = 0
  let begun = performance.now()
  let used = usage(database, place)
  const all = Promise.withResolvers<void>()
  const working = await contender.working!(place, () => {
    acted++
    if (acted === warm) {
      begun = performance.now()
      used = usage(database, place)
    }
    if (acted === waiting) all.resolve()
  })
  await all.promise
  while (!(await working.finished())) await sleep(2)
  const ms = performance.now() - begun
  const items = waiting - warm
  const costs = await (await used)(items)
  if (acted !== waiting) throw new Error(`${acted} effects for ${waiting} items`)
  await working.close()
  await database.close()
  return { rate: items / (ms / 1_000), ...costs, rssMb: memory() }
}

/** From the call that hands an event over to the begin of its effect, one event at a time. */
export async function idleTimes(contender: Contender, place: Place, { events }: Amounts): Promise<Figure> {
  let acted = () => {}
  const sending = await contender.idling!(place, () => acted())
  const database = await databaseOf(place)
  const times: number[] = []
  // A system that idles has been running for a while: its code is compiled.
  const busy = 1_000
  const warm = busy + Math.ceil(events / 5)
  for (let index = 0; index < warm + events; index++) {
    if (index === warm) await database.run('checkpoint')
    // Not in step with anybody's polling.
    if (index >= busy) await sleep(5 + Math.random() * 20)
    const prepared = await sending.prepare(makeItem())
    const begun = performance.now()
    const effect = new Promise<void>((resolve) => {
      acted = resolve
    })
    await Promise.all([sending.send(prepared), effect.then(() => times.push(performance.now() - begun))])
  }
  await sending.close()
  await database.close()
  const measured = times.slice(warm)
  return { p50: percentile(measured, 0.5), p99: percentile(measured, 0.99) }
}

/** What is used from now on, by the item. */
async function usage(
  database: Database,
  { postmaster }: Place,
): Promise<(items: number) => Promise<Pick<Figure, 'walKb' | 'cpuUs' | 'serverUs'>>> {
  const own = process.cpuUsage()
  const server = serverCpuUs(postmaster)
  const wal = await database.written()
  return async (items) => {
    const { user, system } = process.cpuUsage(own)
    const serverNow = serverCpuUs(postmaster)
    return {
      cpuUs: (user + system) / items,
      serverUs: server === undefined || serverNow === undefined ? undefined : (serverNow - server) / items,
      walKb: ((await database.written()) - wal) / 1_000 / items,
    }
  }
}

/** The largest resident memory of this process since it was called, asked for at the end. */
function watchMemory(): () => number {
  let peak = 0
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, 250)
  return () => {
    clearInterval(timer)
    return peak / 1e6
  }
}

export interface Database {
  run(sql: string): Promise<void>
  /** True when the query finds no row. */
  none(query: string): Promise<boolean>
  /** Bytes of WAL so far. */
  written(): Promise<number>
  close(): Promise<void>
}

/** A connection of the bench's own, beside those of the system under measure. */
export async function databaseOf({ url }: Place): Promise<Database> {
  const client = new Client({ connectionString: url })
  await client.connect()
  return {
    async run(sql) {
      await client.query(sql)
    },
    async none(query) {
      const { rows } = await client.query<{ some: boolean }>(`select exists (${query}) as some`)
      return !rows[0]!.some
    },
    async written() {
      const { rows } = await client.query<{ wal: string }>(
        `select pg_current_wal_insert_lsn() - '0/0' as wal`,
      )
      return Number(rows[0]!.wal)
    },
    close: () => client.end(),
  }
}
