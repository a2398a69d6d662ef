import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import type { Server } from '../store/postgres/fixtures/server.ts'
import { postgresService, startServer } from './fixtures/postgres-service.ts'
import { RunningService } from './fixtures/running-service.ts'

/** Two processes on one store, and what their table holds. */
interface Pair {
  readonly services: readonly RunningService[]
  seats(name: string): Promise<number>
  dispose(): Promise<void>
}

async function onSqlite(): Promise<Pair> {
  const directory = mkdtempSync(join(tmpdir(), 'counterfoil-guard-'))
  const file = join(directory, 'service.db')
  const services = [await RunningService.start('sqlite', file), await RunningService.start('sqlite', file)]
  const db = new DatabaseSync(file, { timeout: 10_000 })
  return {
    services,
    seats: async (name) => Number(db.prepare('select count(*) as n from seat where name = ?').get(name)?.n),
    async dispose() {
      for (const service of services) await service.kill()
      db.close()
      rmSync(directory, { recursive: true })
    },
  }
}

let server: Server
before(async () => {
  server = await startServer()
})
after(() => server.dispose())

async function onPostgres(): Promise<Pair> {
  const { url, pool, dispose } = await postgresService(server)
  const services = [await RunningService.start('postgres', url), await RunningService.start('postgres', url)]
  return {
    services,
    seats: async (name) =>
      (await pool.query('select count(*)::int as n from seat where name = $1', [name])).rows[0].n,
    async dispose() {
      for (const service of services) await service.kill()
      await dispose()
    },
  }
}

/** One request; null when no answer came. */
async function post(service: RunningService, key: string, die = '') {
  try {
    const response = await fetch(`${service.url}/seats`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'idempotency-key': key,
        'x-die': die,
        connection: 'close',
      },
      body: JSON.stringify({ seat: key }),
    })
    return {
      status: response.status,
      replayed: response.headers.get('idempotency-replayed'),
      body: await response.text(),
    }
  } catch {
    return null
  }
}

/** Sends until it has an answer for good, as a careful client does. */
async function insist(service: RunningService, key: string) {
  for (;;) {
    const answer = await post(service, key)
    if (answer !== null && ![409, 503].includes(answer.status)) return answer
    await new Promise((resolve) => setTimeout(resolve, 30))
  }
}

for (const [name, open] of [
  ['SQLite', onSqlite],
  ['PostgreSQL', onPostgres],
] as const) {
  describe(`two processes on ${name}`, () => {
    let pair: Pair
    before(async () => {
      pair = await open()
    })
    after(() => pair.dispose())

    test('a crash before the commit leaves nothing, and the next attempt acts', async () => {
      const [one, two] = pair.services as [RunningService, RunningService]
      assert.equal(await post(one, 'early', 'before-commit'), null)
      await one.ended()
      assert.equal(await pair.seats('early'), 0)
      const next = await insist(two, 'early')
      assert.deepEqual([next.status, next.replayed], [201, null])
      await one.run()
      assert.equal((await insist(one, 'early')).replayed, 'true')
      assert.equal(await pair.seats('early'), 1)
    })

    test('a crash between commit and answer: the repeat gets the answer that was never sent', async () => {
      const [one, two] = pair.services as [RunningService, RunningService]
      assert.equal(await post(one, 'late', 'after-commit'), null)
      await one.ended()
      assert.equal(await pair.seats('late'), 1)
      assert.equal((await insist(two, 'late')).replayed, 'true')
      assert.equal(await pair.seats('late'), 1)
      await one.run()
    })

    test('64 requests with one key at once, one process killed in the middle: one act, one answer for all', async () => {
      for (let round = 0; round < 3; round++) {
        const key = `round-${round}`
        const victim = pair.services[round % 2]!
        const answers = Array.from({ length: 64 }, (_, index) => insist(pair.services[index % 2]!, key))
        await new Promise((resolve) => setTimeout(resolve, 5 + round * 13))
        await victim.kill()
        await victim.run()
        const got = await Promise.all(answers)
        assert.deepEqual(new Set(got.map(({ status }) => status)), new Set([201]))
        assert.equal(new Set(got.map(({ body }) => body)).size, 1, 'also those that another process answered')
        assert.ok(got.filter(({ replayed }) => replayed === null).length <= 1)
        assert.equal(await pair.seats(key), 1)
      }
    })
  })
}
