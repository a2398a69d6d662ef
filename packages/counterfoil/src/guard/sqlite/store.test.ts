import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, test } from 'node:test'
import { guardOn, request, seatHandler, seen } from '../fixtures/service.ts'
import { sqliteService } from '../fixtures/sqlite-service.ts'
import { guard, sqliteGuardStore } from '../index.ts'

let service: Awaited<ReturnType<typeof sqliteService>>
beforeEach(async () => {
  service = await sqliteService()
})
afterEach(() => service.dispose())

test('while another process holds the file longer than the time-out, nothing is done and 503 says so', async () => {
  const seats = await guardOn(service)
  const other = new DatabaseSync(service.path)
  other.exec('begin immediate')
  const busy = await seen(await seats.handle(request(), seatHandler(service)))
  assert.deepEqual([busy.status, busy.code, busy.headers['retry-after']], [503, 'store_busy', '1'])
  const lookup = await seats.serve(request({ method: 'GET', path: '/counterfoil/keys/k1' }))
  assert.equal(lookup?.status, 503, 'absence is not told while somebody may be acting')
  other.exec('commit')
  other.close()
  assert.equal((await seats.handle(request(), seatHandler(service))).status, 201)
  assert.deepEqual(await service.rows(), ['A1/k1'])
})

test('a handler that gives a promise is undone and told so', async () => {
  const seats = await guardOn(service)
  const handler = async (guarded: any) => {
    service.write(guarded.tx, 'early')
    await undefined
    throw new Error('nobody waits for this')
  }
  await assert.rejects(seats.handle(request(), handler as never), { code: 'guard_handler_async' })
  assert.deepEqual(await service.rows(), [])
  assert.equal((await seats.handle(request(), seatHandler(service))).status, 201)
})

test('a handler that ends the transaction is told so, and its key is not kept', async () => {
  const seats = await guardOn(service)
  const handler = ({ tx }: { tx: DatabaseSync }) => {
    tx.exec('rollback')
    return { status: 200, json: 1 }
  }
  await assert.rejects(seats.handle(request(), handler as never), { code: 'guard_answer_unfit' })
  assert.equal(service.db.isTransaction, false)
  assert.equal((await seats.handle(request(), seatHandler(service))).status, 201)
})

test("inside an open transaction of the owner's the guard begins none, and outside of one there is no inside", async () => {
  const seats = await guardOn(service)
  service.db.exec('begin')
  const nested = await seen(await seats.handle(request(), seatHandler(service)))
  assert.equal(nested.code, 'store_unavailable')
  service.db.exec('rollback')
  const reading = await seats.read(request())
  assert.ok('call' in reading)
  assert.throws(() => seats.inside(service.db, reading.call, seatHandler(service)), {
    code: 'store_unavailable',
  })
})

test('a full disk undoes all, and the next attempt acts', async () => {
  const seats = await guardOn(service)
  const { page_count: pages } = service.db.prepare('pragma page_count').get() as { page_count: number }
  service.db.exec(`pragma max_page_count = ${pages + 1}`)
  const large = seatHandler(service, () => ({ status: 200, body: 'x'.repeat(100_000) }))
  await assert.rejects(seats.handle(request(), large), { message: /full/ })
  assert.deepEqual(await service.rows(), [])
  service.db.exec('pragma max_page_count = 100000')
  assert.equal((await seats.handle(request(), large)).status, 200)
})

test('tables take the prefix of the owner, two guards with two prefixes share nothing, and SQL is kept out of it', async () => {
  const options = { caller: () => 'all', remembersFor: '1h' } as const
  const [one, two] = ['first_', 'second_'].map((prefix) =>
    guard({ ...options, store: sqliteGuardStore(service.db, { prefix }) }),
  )
  for (const seats of [one!, two!]) {
    await seats.migrate()
    assert.equal(
      (await seats.handle(request(), seatHandler(service))).headers.get('idempotency-replayed'),
      null,
    )
  }
  const tables = service.db.prepare("select name from sqlite_schema where type = 'table' order by name").all()
  assert.deepEqual(
    tables.map(({ name }) => name),
    ['first_fence', 'first_key', 'first_migration', 'seat', 'second_fence', 'second_key', 'second_migration'],
  )
  for (const prefix of ['', 'A_', '1_', 'a;drop', 'x'.repeat(41)])
    assert.throws(() => sqliteGuardStore(service.db, { prefix }), { code: 'config_invalid' })
})

test('a file that the guard opens itself is in WAL mode and synced at every commit', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'counterfoil-guard-'))
  const store = sqliteGuardStore(join(directory, 'own.db'))
  const seats = guard({ store, caller: () => 'all', remembersFor: '1h' })
  await seats.migrate()
  const response = await seats.handle(request(), ({ tx }) => {
    const { synchronous } = tx.prepare('pragma synchronous').get() as { synchronous: number }
    const { journal_mode: mode } = tx.prepare('pragma journal_mode').get() as { journal_mode: string }
    return { status: 200, json: { synchronous, mode } }
  })
  assert.deepEqual(await response.json(), { synchronous: 2, mode: 'wal' })
  await store.close()
  rmSync(directory, { recursive: true })
})
