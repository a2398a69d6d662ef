import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import pg from 'pg'
import type { Server } from '../../store/postgres/fixtures/server.ts'
import { postgresService, startServer } from '../fixtures/postgres-service.ts'
import { guardOn, request, seatHandler, seen } from '../fixtures/service.ts'
import { type PgClient, postgresGuardStore } from '../index.ts'

let server: Server
let service: Awaited<ReturnType<typeof postgresService>>
before(async () => {
  server = await startServer()
})
after(() => server.dispose())
beforeEach(async () => {
  service = await postgresService(server)
})
afterEach(() => service.dispose())

/** A handler that stops in the middle of its transaction until it is let go on. */
function gate() {
  const entered = Promise.withResolvers<void>()
  const open = Promise.withResolvers<string | undefined>()
  const handler = async ({ tx }: { tx: pg.PoolClient }) => {
    const ended = new Promise((resolve) => tx.once('end', resolve))
    await service.write(tx, 'gated')
    entered.resolve()
    if ((await open.promise) === 'when the connection has ended') await ended
    return { status: 201, json: { gated: true } }
  }
  return {
    entered: entered.promise,
    open: (when?: string) => open.resolve(when),
    handler: handler as never,
  }
}

describe('while a request is in flight', () => {
  test('others with its key are told at once, lookups and tombstones too, and other keys go on', async () => {
    const seats = await guardOn(service)
    const { entered, open, handler } = gate()
    const first = seats.handle(request(), handler)
    await entered
    const second = await seen(await seats.handle(request(), seatHandler(service)))
    assert.deepEqual(
      [second.status, second.code, second.headers['retry-after']],
      [409, 'guard_in_flight', '1'],
    )
    for (const [method, path] of [
      ['GET', '/counterfoil/keys/k1'],
      ['PUT', '/counterfoil/tombstones/k1'],
    ] as const) {
      const told = await seen((await seats.serve(request({ method, path, key: null })))!)
      assert.deepEqual([told.status, told.json.state], [409, 'in-flight'])
    }
    assert.equal((await seats.handle(request({ key: 'k2' }), seatHandler(service))).status, 201)
    open()
    assert.equal((await first).status, 201)
    assert.equal(
      (await seen(await seats.handle(request(), seatHandler(service)))).headers['idempotency-replayed'],
      'true',
    )
  })

  test('a connection that ends lets go of its key with all that it wrote, and the next attempt acts', async () => {
    const seats = await guardOn(service)
    const { entered, open, handler } = gate()
    const first = seats.handle(request(), handler)
    await entered
    await server.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where state = 'idle in transaction'",
    )
    open('when the connection has ended')
    const lost = await seen(await first)
    assert.deepEqual([lost.status, lost.code], [503, 'store_unavailable'])
    assert.deepEqual(await service.rows(), [])
    assert.equal((await seats.handle(request(), seatHandler(service))).status, 201)
  })

  test('a handler that hangs is ended by the database, so that its key is not held for ever', async () => {
    const quick = { ...service, store: postgresGuardStore<pg.PoolClient>(service.pool, { idleTimeout: 200 }) }
    const seats = await guardOn(quick)
    const { entered, open, handler } = gate()
    const first = seats.handle(request(), handler)
    await entered
    for (;;) {
      const next = await seats.handle(request(), seatHandler(service))
      if (next.status === 201) break
      assert.equal(next.status, 409)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    open('when the connection has ended')
    assert.equal((await first).status, 503)
    assert.deepEqual(await service.rows(), ['A1/k1'])
  })
})

test('an answer to COMMIT that is lost leaves it unknown, and the repeat is a replay', async () => {
  const pool = {
    totalCount: 0,
    async connect() {
      const client = await service.pool.connect()
      const query = client.query.bind(client)
      client.query = (async (statement: any, values: any) => {
        const result = await query(statement, values)
        if (/commit$/.test(String(statement))) throw new Error('Connection terminated unexpectedly')
        return result
      }) as never
      return client
    },
  }
  const seats = await guardOn(service)
  const store = { ...postgresGuardStore<pg.PoolClient>(pool), migrate: async () => {} }
  const cut = await guardOn({ ...service, store })
  const lost = await seen(await cut.handle(request(), seatHandler(service)))
  assert.deepEqual([lost.status, lost.code], [503, 'commit_unknown'])
  assert.equal(
    (await seen(await seats.handle(request(), seatHandler(service)))).headers['idempotency-replayed'],
    'true',
  )
  assert.deepEqual(await service.rows(), ['A1/k1'])
})

test("a request takes three messages, its handler's among them, and a replay takes two", async () => {
  const messages: string[] = []
  const client = new pg.Client(service.url)
  await client.connect()
  const query = client.query.bind(client)
  client.query = ((statement: any, values: any) => {
    messages.push(typeof statement === 'string' ? statement : statement.text)
    return query(statement, values)
  }) as never
  const prepared = await guardOn({ ...service, store: postgresGuardStore(client as PgClient) })
  const plain = await guardOn({
    ...service,
    store: postgresGuardStore(client as PgClient, { prepare: false }),
  })
  const sent = async (by: typeof prepared, key: string) => {
    messages.length = 0
    assert.equal((await by.handle(request({ key }), seatHandler(service))).status, 201)
    return messages.length
  }
  await sent(prepared, 'first-on-its-connection')
  for (const [way, by] of Object.entries({ prepared, plain })) {
    assert.equal(await sent(by, way), 3, messages.join('\n'))
    assert.equal(await sent(by, way), 2, messages.join('\n'))
  }
  await client.end()
})

test('text that would end a literal stays text, prepared or not, whatever backslashes mean to the server', async () => {
  const answer = { status: 200, headers: { 'x-a': `'); drop table guard_key; --\\$1` }, body: `'\\$2"` }
  for (const [prepare, conforming] of [
    [true, 'on'],
    [false, 'on'],
    [true, 'off'],
    [false, 'off'],
  ] as const) {
    const pool = new pg.Pool({ connectionString: service.url, max: 1 })
    await pool.query(`set standard_conforming_strings = ${conforming}`)
    const seats = await guardOn({ ...service, store: postgresGuardStore<pg.PoolClient>(pool, { prepare }) })
    // The first request of a connection prepares; the ones after it send their values as text.
    for (const ending of [`')$1;--1`, `')$1;--2`, '3', '5\\', `\\'6`, '\\x7', '\\008']) {
      const key = `${prepare}-${conforming}-${ending}`
      const quoted = `"${key.replaceAll('\\', '\\\\')}"`
      const handler = seatHandler(service, () => answer)
      const first = await seen(await seats.handle(request({ key: quoted }), handler))
      const { 'idempotency-replayed': replayed, ...headers } = (
        await seen(await seats.handle(request({ key: quoted }), handler))
      ).headers
      assert.deepEqual([headers, headers['x-a']], [first.headers, answer.headers['x-a']])
      assert.equal(replayed, 'true')
      const looked = await seen(
        (await seats.serve(
          request({ method: 'GET', path: `/counterfoil/keys/${encodeURIComponent(key)}`, key: null }),
        ))!,
      )
      assert.equal(looked.json.answer.body, answer.body)
    }
    await pool.end()
  }
})

test('a handler that goes on after a failed statement commits nothing', async () => {
  const seats = await guardOn(service)
  const careless = async ({ tx }: { tx: pg.PoolClient }) => {
    await service.write(tx, 'lost')
    await tx.query('select nonsense').catch(() => {})
    return { status: 200, json: 1 }
  }
  const answer = await seen(await seats.handle(request(), careless as never))
  assert.deepEqual([answer.status, answer.code], [503, 'store_unavailable'])
  const keyless = await guardOn(service, { key: 'optional' })
  const undone = await seen(await keyless.handle(request({ key: null }), careless as never))
  assert.equal(undone.code, 'store_unavailable', 'the server says ROLLBACK to COMMIT')
  assert.deepEqual(await service.rows(), [])
})

test("a deferred constraint of the owner's fails at COMMIT with its own error, and keeps nothing", async () => {
  const seats = await guardOn(service)
  await service.sql('alter table seat add constraint one unique (name) deferrable initially deferred')
  await service.sql("insert into seat (name) values ('A1/k1')")
  await assert.rejects(seats.handle(request(), seatHandler(service)), { code: '23505' })
  await service.sql('delete from seat')
  assert.equal((await seats.handle(request(), seatHandler(service))).status, 201)
})

test("inside a transaction of the owner's whose snapshot is older than the first answer, the write says so", async () => {
  const seats = await guardOn(service)
  const reading = await seats.read(request())
  assert.ok('call' in reading)
  const { call } = reading
  const client = await service.pool.connect()
  await client.query('begin isolation level repeatable read')
  await client.query('select 1')
  await seats.handle(request(), seatHandler(service))
  await assert.rejects(async () => await seats.inside(client, call, seatHandler(service)), {
    code: 'store_busy',
  })
  await client.query('rollback')
  await assert.rejects(async () => await seats.inside(client, call, seatHandler(service)), {
    code: 'store_unavailable',
  })
  client.release()
  assert.deepEqual(await service.rows(), ['A1/k1'])
})

test('a handler that ends the transaction is told so, and its key is not kept', async () => {
  const seats = await guardOn(service)
  const ending = async ({ tx }: { tx: pg.PoolClient }) => {
    await tx.query('rollback')
    return { status: 200, json: 1 }
  }
  await assert.rejects(seats.handle(request(), ending as never), { code: 'guard_answer_unfit' })
  assert.equal((await seats.handle(request(), seatHandler(service))).status, 201)
})

test('one client takes one request after the other', async () => {
  const client = new pg.Client(service.url)
  await client.connect()
  const seats = await guardOn({ ...service, store: postgresGuardStore(client as PgClient) })
  const statuses = await Promise.all(
    Array.from(
      { length: 20 },
      async (_, index) =>
        (await seats.handle(request({ key: `k${index % 10}` }), seatHandler(service))).status,
    ),
  )
  assert.deepEqual(new Set(statuses), new Set([201]))
  assert.equal((await service.rows()).length, 10)
  await client.end()
})

test('it works without prepared statements, behind a pooler', async () => {
  const seats = await guardOn({
    ...service,
    store: postgresGuardStore<pg.PoolClient>(service.pool, { prepare: false }),
  })
  const fenced = { headers: { 'fence-domain': 'd', 'fence-version': '1' } }
  assert.equal((await seats.handle(request(fenced), seatHandler(service))).status, 201)
  assert.equal((await seats.handle(request({ ...fenced, key: 'k2' }), seatHandler(service))).status, 412)
  const { rows } = await service.pool.query('select count(*)::int as n from pg_prepared_statements')
  assert.equal(rows[0].n, 0)
})

test('1000 writers of one domain at once: the versions that the row sees strictly rise', async () => {
  const pool = new pg.Pool({ connectionString: service.url, max: 20 })
  const second = { ...service, store: postgresGuardStore<pg.PoolClient>(pool) }
  const others = [await guardOn(service), await guardOn(second)]
  await service.sql('create table account (id int primary key, version bigint not null)')
  await service.sql('insert into account values (1, 0)')
  const versions = Array.from({ length: 1000 }, (_, index) => index + 1).sort(
    (a, b) => Math.imul(a, 0x9e3779b1) - Math.imul(b, 0x9e3779b1),
  )
  const write = async ({ tx, order }: any) => {
    // What the row was when this write came, in the order of writes.
    await tx.query("insert into seat (name) select version || '>' || $1::bigint from account", [
      order.version,
    ])
    await tx.query('update account set version = $1', [order.version])
    return { status: 200, json: null }
  }
  const statuses = await Promise.all(
    versions.map(async (version, index) => {
      const sent = request({
        key: `v${version}`,
        headers: { 'fence-domain': 'account/1', 'fence-version': String(version) },
      })
      return (await others[index % 2]!.handle(sent, write)).status
    }),
  )
  const writes = (await service.rows()).map((row) => row.split('>').map(Number) as [number, number])
  let before = 0
  for (const [from, to] of writes) {
    assert.equal(from, before)
    assert.ok(to > from, `${to} came after ${from}`)
    before = to
  }
  assert.equal(before, 1000, 'the newest is there at the end')
  assert.deepEqual(new Set(statuses), new Set([200, 412]))
  assert.equal(statuses.filter((status) => status === 200).length, writes.length)
  await pool.end()
})
