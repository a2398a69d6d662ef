import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Store } from '../store/index.ts'
import { MemoryDatabase } from '../store/sqlite/index.ts'
import { dawn, day, RetentionWorld, vault } from './fixtures/retention-world.ts'
import { Retainer } from './retainer.ts'

const periods = { payloadMs: day, evidenceMs: 2 * day, boundaryMs: null, effectKeysMs: null }

async function done(times: number) {
  const database = new MemoryDatabase()
  const { store } = database.handle()
  await store.open({ migrate: true, vault })
  const world = new RetentionWorld(store)
  for (let index = 0; index < times; index++) {
    await world.deliver({ id: `evt_${index}`, key: `key_${index}`, eventAt: null }, dawn)
  }
  await world.confirm(dawn)
  return { world, database }
}

/** Lets time pass, and what came of it be done. */
async function pass(world: RetentionWorld, until: number): Promise<void> {
  while (world.clock.step(until)) await new Promise((resolve) => setImmediate(resolve))
  world.clock.jump(until - world.clock.now())
}

test('retention that is configured to be applied is, each time with one row in the audit log', async () => {
  const { world, database } = await done(5)
  const retainer = new Retainer({ ...world, log: () => {} }, { periods, everyMs: day / 2 })
  retainer.start()
  await pass(world, dawn + 5 * day)
  await retainer.stop()
  const { receipts, effects } = await world.store.status()
  assert.deepEqual([receipts.total, effects.total], [1, 1], 'the newest of each stays')
  const rows = await world.store.listAudit({ limit: 10, after: 0 })
  assert.deepEqual(
    rows.map(({ operator, act, result }) => [operator, act, Object.keys(result)[0]]),
    [
      ['engine', 'retention.apply', 'payloads'],
      ['engine', 'retention.apply', 'payloads'],
    ],
    'one for the payloads, one for the evidence, none for a run that took nothing',
  )
  database.close()
})

test('a store that fails is tried again', async () => {
  const { world, database } = await done(2)
  let fails = true
  const lines: string[] = []
  const forget: typeof world.store.forget = async (batch) => {
    if (fails) throw new Error('the disk is away')
    return await world.store.forget(batch)
  }
  const store: Store = Object.assign(Object.create(world.store), { forget })
  const log = (_: string, message: string) => void lines.push(message)
  const retainer = new Retainer({ store, clock: world.clock, log }, { periods, everyMs: day })
  retainer.start()
  await pass(world, dawn + 3 * day)
  assert.ok(lines.length > 0)
  fails = false
  await pass(world, dawn + 5 * day)
  await retainer.stop()
  assert.equal((await world.store.status()).receipts.total, 1)
  database.close()
})
