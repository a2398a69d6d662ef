import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { CounterfoilError, type ErrorCode } from '../../domain/index.ts'
import { freePort } from '../../testing/free-port.ts'
import { accepted, delivery, rejects } from '../conformance/given.ts'
import { describeOn } from './fixtures/describe-on.ts'
import { Server } from './fixtures/server.ts'
import { startStandby } from './fixtures/standby.ts'
import { postgres } from './index.ts'

describeOn(17, 'opening a PostgreSQL store', (server) => {
  async function refuses(
    schema: string,
    code: ErrorCode,
    says: RegExp,
    { migrate = true, url = server.url() } = {},
  ): Promise<void> {
    const store = postgres(url, { schema })
    await assert.rejects(store.open({ migrate }), (error) => {
      assert.ok(error instanceof CounterfoilError)
      assert.equal(error.code, code, error.message)
      assert.match(`${error.message} ${error.hint}`, says)
      return true
    })
    await rejects(store.status(), 'store_closed')
    await store.close()
  }

  test('makes the schema, but only when migrating', async () => {
    await refuses('made', 'store_schema_older', /counterfoil migrate/, { migrate: false })
    assert.deepEqual(await server.query("select 1 from pg_namespace where nspname = 'made'"), [])
    const store = postgres(server.url(), { schema: 'made' })
    const applied = readdirSync(new URL('./migrations/', import.meta.url)).sort()
    assert.deepEqual(await store.open({ migrate: true }), { from: 0, to: applied.length, applied })
    assert.equal(store.location, `postgres://127.0.0.1:${server.port}/postgres`)
    await store.close()
  })

  test('by ten processes at once migrates once', async () => {
    const stores = Array.from({ length: 10 }, () => postgres(server.url(), { schema: 'raced' }))
    const reports = await Promise.all(stores.map((store) => store.open({ migrate: true })))
    assert.equal(reports.filter(({ applied }) => applied.length > 0).length, 1)
    await Promise.all(stores.map((store) => store.close()))
  })

  test('migrates while workers work on another schema of the same database', async () => {
    const working = postgres(server.url(), { schema: 'working' })
    await working.open({ migrate: true })
    const beside = postgres(server.url(), { schema: 'beside' })
    const work = Promise.all(Array.from({ length: 50 }, () => accepted(working)))
    await beside.open({ migrate: true })
    assert.equal((await work).length, 50)
    await working.close()
    await beside.close()
  })

  test('of a newer version refuses it', async () => {
    await made('newer')
    await server.query("insert into newer.migration values (99, '0099_future.sql', 'x')")
    await refuses('newer', 'store_schema_newer', /newer version/)
  })

  test('whose migration is not the one of this version refuses it', async () => {
    await made('changed')
    await server.query("update changed.migration set checksum = 'other'")
    await refuses('changed', 'store_migration_changed', /0001_ledger\.sql/)
  })

  test('that is not there says what to look at', async () => {
    const port = await freePort()
    await refuses('x', 'store_unavailable', /ECONNREFUSED/, {
      url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    })
    await refuses('x', 'store_unavailable', /no database of that name/, {
      url: server.url().replace(/postgres$/, 'nowhere'),
    })
    await refuses('x', 'store_unavailable', /does not let this user in|role "nobody" does not exist/, {
      url: `postgres://nobody@127.0.0.1:${server.port}/postgres`,
    })
  })

  test('finds, of several hosts, the one that takes writes; a standby alone is refused', async () => {
    const primary = await Server.start(17)
    const standby = await startStandby(primary, 's1')
    try {
      const both = `postgres://postgres@127.0.0.1:${standby.port},127.0.0.1:${primary.port}/postgres`
      const store = postgres(both)
      await store.open({ migrate: true })
      assert.equal((await store.accept(delivery())).outcome, 'accepted')
      await store.close()
      await refuses('counterfoil', 'store_unavailable', /no host of it takes writes/, { url: standby.url() })
    } finally {
      await standby.dispose()
      await primary.dispose()
    }
  })

  test('without connections left says so, and goes on when there are some', async () => {
    const small = await Server.start(17, {
      max_connections: '5',
      superuser_reserved_connections: '0',
      reserved_connections: '0',
      max_wal_senders: '0',
    })
    try {
      const one = postgres(small.url(), { maxConnections: 3, lanes: 3 })
      await one.open({ migrate: true })
      const held = await Promise.all(
        Array.from({ length: 4 }, () => postgres(small.url(), { maxSessions: 5 })),
      )
      const sessions = []
      let refusal: unknown
      for (const store of held) {
        try {
          await store.open({ migrate: false })
          // One by one: whichever was begun is ended below, and closing waits for no time limit.
          sessions.push(await store.beginPlan({ timeoutMs: 60_000 }))
          sessions.push(await store.beginPlan({ timeoutMs: 60_000 }))
        } catch (error) {
          refusal = error
        }
      }
      assert.equal((refusal as CounterfoilError).code, 'store_unavailable')
      for (const session of sessions) await session.rollback()
      for (const store of held) await store.close()
      for (let tries = 0; ; tries++) {
        const answer = await one.accept(delivery()).catch((error: unknown) => error)
        if (!(answer instanceof Error)) break
        assert.ok(tries < 100, String(answer))
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      await one.close()
    } finally {
      await small.dispose()
    }
  })

  async function made(schema: string): Promise<void> {
    const store = postgres(server.url(), { schema })
    await store.open({ migrate: true })
    await store.close()
  }
})
