/**
 * What a guard costs, on the wall's clock and on the processor's of this process: requests a second through a handler that already writes one row in a transaction, bare, guarded,
 * and behind two idempotency libraries of npm that keep their records in the same database:
 * `npm run bench:guard [-- ROUNDS [REQUESTS]]`. Rounds alternate; the first is a warm-up. On PostgreSQL one request at a time
 * is what a caller waits; sixteen are what the machine has to do, for it is then the processors that are waited for.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Idempotency } from '@node-idempotency/core'
import { type Guard, guard, postgresGuardStore, sqliteGuardStore } from 'counterfoil/guard'
import { IdempotencyService } from 'express-idempotency/dist/services/idempotencyService.js'
import pg from 'pg'
import { Server } from '../packages/counterfoil/src/store/postgres/fixtures/server.ts'
import { concurrently, print, spread } from './figures.ts'
import { benchDirectory } from './setup.ts'

const rounds = Number(process.argv[2] ?? 5)
const requests = Number(process.argv[3] ?? 2_000)
const atATime = 50

/** One way to answer a request: by then its row is committed. */
type Way = (request: Request) => Promise<Response>

/** A database with the owner's table, and the records that the libraries keep in it, as text by key. */
interface Database {
  /** The owner's row in a transaction of its own. */
  readonly write: (name: string) => void | Promise<void>
  readonly guarded: Guard<any, any>
  readonly handler: (guarded: any) => any
  readonly create: (key: string, value: string) => boolean | Promise<boolean>
  readonly update: (key: string, value: string) => void | Promise<void>
  readonly read: (key: string) => string | undefined | Promise<string | undefined>
  readonly atOnce: readonly number[]
  readonly close: () => Promise<void>
}

const guardOptions = { caller: () => 'bench', remembersFor: '30d' } as const
const answer = { status: 201, json: { open: true } }
const body = JSON.stringify({ seat: 'A1', note: 'x'.repeat(200) })

function onSqlite(): Database {
  const directory = benchDirectory()
  const db = new DatabaseSync(join(directory, 'service.db'))
  db.exec('pragma journal_mode = wal; pragma synchronous = full')
  db.exec('create table seat (number integer primary key, name text not null) strict')
  db.exec('create table record (key text primary key, value text not null) strict')
  const insert = db.prepare('insert into seat (name) values (?)')
  const create = db.prepare('insert into record values (?, ?) on conflict do nothing')
  const update = db.prepare('update record set value = ? where key = ?')
  const read = db.prepare('select value from record where key = ?')
  return {
    write(name) {
      db.exec('begin immediate')
      insert.run(name)
      db.exec('commit')
    },
    guarded: guard({ ...guardOptions, store: sqliteGuardStore(db) }),
    handler({ json }) {
      insert.run(json().seat)
      return answer
    },
    create: (key, value) => create.run(key, value).changes === 1,
    update: (key, value) => void update.run(value, key),
    read: (key) => read.get(key)?.value as string | undefined,
    // It writes one after the other whatever is asked of it.
    atOnce: [16],
    async close() {
      db.close()
      rmSync(directory, { recursive: true })
    },
  }
}

async function onPostgres(server: Server): Promise<Database> {
  const pool = new pg.Pool({ connectionString: server.url(), max: 16 })
  // Connecting is no part of a request.
  await Promise.all(Array.from({ length: 16 }, () => pool.query('select pg_sleep(0.1)')))
  await pool.query('drop schema public cascade; create schema public')
  await pool.query('create table seat (number bigserial primary key, name text not null)')
  await pool.query('create table record (key text primary key, value text not null)')
  const named = (client: pg.Pool | pg.PoolClient, name: string, text: string, values: unknown[]) =>
    client.query({ name, text, values })
  const insert = 'insert into seat (name) values ($1)'
  return {
    async write(name) {
      const client = await pool.connect()
      await client.query('begin')
      await named(client, 'seat', insert, [name])
      await client.query('commit')
      client.release()
    },
    guarded: guard({ ...guardOptions, store: postgresGuardStore<pg.PoolClient>(pool) }),
    async handler({ tx, json }) {
      await named(tx, 'seat', insert, [json().seat])
      return answer
    },
    create: async (key, value) =>
      (await named(pool, 'create', 'insert into record values ($1, $2) on conflict do nothing', [key, value]))
        .rowCount === 1,
    update: async (key, value) =>
      void (await named(pool, 'update', 'update record set value = $2 where key = $1', [key, value])),
    read: async (key) =>
      (await named(pool, 'read', 'select value from record where key = $1', [key])).rows[0]?.value,
    atOnce: [1, 16],
    close: () => pool.end(),
  }
}

function ways({ write, guarded, handler, create, update, read }: Database): Record<string, Way> {
  const reply = () =>
    new Response(JSON.stringify(answer.json), {
      status: 201,
      headers: { 'content-type': 'application/json' },
    })
  const core = new Idempotency({
    setIfNotExists: async (key, value) => await create(key, value),
    set: async (key, value) => await update(key, value),
    get: async (key) => await read(key),
  })
  const express = new IdempotencyService({
    dataAdapter: {
      findByIdempotencyKey: async (key: string) => JSON.parse((await read(key)) ?? 'null'),
      create: async (resource: { idempotencyKey: string }) =>
        void (await create(resource.idempotencyKey, JSON.stringify(resource))),
      update: async (resource: { idempotencyKey: string }) =>
        await update(resource.idempotencyKey, JSON.stringify(resource)),
      delete: async () => {},
    },
  })
  return {
    async bare(request) {
      const { seat } = (await request.json()) as { seat: string }
      await write(seat)
      return reply()
    },
    guard: (request) => guarded.handle(request, handler),
    async '@node-idempotency/core'(request) {
      const headers = Object.fromEntries(request.headers)
      const parsed = (await request.json()) as { seat: string }
      const asked = {
        headers: { ...headers, 'Idempotency-Key': headers['idempotency-key'] },
        path: request.url,
        body: parsed,
        method: request.method,
      }
      const stored = await core.onRequest(asked)
      if (stored !== undefined) return new Response(JSON.stringify(stored.body))
      await write(parsed.seat)
      await core.onResponse(asked, { body: answer.json, additional: { status: 201 } })
      return reply()
    },
    async 'express-idempotency'(request) {
      const headers = Object.fromEntries(request.headers)
      const parsed = (await request.json()) as { seat: string }
      // What it touches of Express, and nothing more.
      const req = {
        headers,
        method: request.method,
        url: request.url,
        query: {},
        body: parsed,
        get: (name: string) => headers[name],
      }
      const res = {
        statusCode: 201,
        setHeader() {},
        getHeaders: () => ({}),
        status: () => res,
        send() {},
      } as any
      await new Promise<void>((resolve, reject) => {
        void express.provideMiddlewareFunction(req as never, res, (error: unknown) =>
          error === undefined ? resolve() : reject(error),
        )
      })
      await write(parsed.seat)
      res.send(answer.json)
      return reply()
    },
  }
}

const server = await Server.start(18)
try {
  for (const [name, open] of [
    ['SQLite', async () => onSqlite()],
    ['PostgreSQL', () => onPostgres(server)],
  ] as const) {
    const rates = new Map<number, Map<string, Spent[]>>()
    for (let round = 0; round <= rounds; round++) {
      const database = await open()
      await database.guarded.migrate()
      for (const atOnce of database.atOnce) {
        const spent = await spentByWay(ways(database), `${round}-${atOnce}`, atOnce)
        const known = rates.get(atOnce) ?? new Map<string, Spent[]>()
        rates.set(atOnce, known)
        for (const [way, sum] of spent) if (round > 0) known.set(way, [...(known.get(way) ?? []), sum])
      }
      await database.close()
    }
    for (const [atOnce, found] of rates) printRates(`${name}, ${atOnce} at once, requests a second`, found)
  }
} finally {
  await server.dispose()
}

/** In small turns, so that a disturbance meets all of them alike; another one is first each time. */
async function spentByWay(
  all: Record<string, Way>,
  name: string,
  atOnce: number,
): Promise<Map<string, Spent>> {
  const measured = Object.entries(all)
  for (const [way, run] of measured) await spentOn(run, `${way}-${name}-first`, atOnce)
  const spent = new Map(measured.map(([way]) => [way, { wall: 0, cpu: 0 }]))
  for (let turn = 0; turn < requests / atATime; turn++) {
    for (let index = 0; index < measured.length; index++) {
      const [way, run] = measured[(index + turn) % measured.length]!
      const { wall, cpu } = await spentOn(run, `${way}-${name}-${turn}`, atOnce)
      const sum = spent.get(way)!
      sum.wall += wall
      sum.cpu += cpu
    }
  }
  return spent
}

function printRates(title: string, rates: ReadonlyMap<string, readonly Spent[]>): void {
  const bare = rates.get('bare')!
  const times = (all: readonly Spent[], clock: keyof Spent) =>
    spread(
      all.map((sum, round) => sum[clock] / bare[round]![clock]),
      2,
    )
  print([
    [title, ''],
    ...[...rates].map(
      ([way, all]) =>
        [
          `  ${way}`,
          `${spread(all.map(({ wall }) => requests / wall))}   takes ${times(all, 'wall')} times as long as bare, ${times(all, 'cpu')} times the processor`,
        ] as const,
    ),
  ])
}

/** Seconds. */
interface Spent {
  wall: number
  cpu: number
}

async function spentOn(run: Way, name: string, atOnce: number): Promise<Spent> {
  const sent = Array.from(
    { length: atATime },
    (_, index) =>
      new Request('http://service.bench/seats', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': `${name}-${index}` },
        body,
      }),
  )
  const begun = performance.now()
  const before = process.cpuUsage()
  await concurrently(atATime, atOnce, async (index) => {
    const response = await run(sent[index]!)
    if (response.status !== 201) throw new Error(`${name} was answered ${response.status}`)
  })
  const { user, system } = process.cpuUsage(before)
  return { wall: (performance.now() - begun) / 1000, cpu: (user + system) / 1e6 }
}
