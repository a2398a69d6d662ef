import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { dawn, day, RetentionWorld, vault } from '../../engine/fixtures/retention-world.ts'
import type { Store } from '../store.ts'
import { temporaryDirectory } from './fixtures/temporary.ts'
import { sqlite } from './index.ts'

const periods = { payloadMs: day, evidenceMs: 2 * day, boundaryMs: null, effectKeysMs: null }
const count = 300

async function fill(store: Store, name: string, at: number): Promise<RetentionWorld> {
  const world = new RetentionWorld(store, 1_000)
  const ids = Array.from({ length: count }, (_, index) => `${name}_${index}`)
  await Promise.all(ids.map((id) => world.deliver({ id, key: id, eventAt: null }, at)))
  await world.confirm(at)
  return world
}

test('what went leaves room in the file, and as much again does not make it grow', async () => {
  const directory = temporaryDirectory()
  const store = sqlite(join(directory.path, 'size.db'))
  try {
    await store.open({ migrate: true, vault })
    const world = await fill(store, 'first', dawn)
    const full = (await store.retention()).size
    await world.retain(periods, dawn + 3 * day)
    const emptied = (await store.retention()).size
    const used = (size: typeof full) => size.bytes - (size.freeBytes ?? 0)
    assert.ok(used(emptied) < used(full) / 2, `${used(full)} bytes in use became ${used(emptied)}`)
    await fill(store, 'second', dawn + 3 * day)
    const again = (await store.retention()).size
    assert.ok(again.bytes <= full.bytes * 1.1, `${full.bytes} bytes became ${again.bytes}`)
    const known = await world.deliver({ id: 'first_0', key: 'first_0', eventAt: null }, dawn + 4 * day)
    assert.deepEqual(known, { outcome: 'duplicate', created: false })
  } finally {
    await store.close()
    directory.remove()
  }
})

test('bytes of payloads that went are in the file no more', async () => {
  const directory = temporaryDirectory()
  const path = join(directory.path, 'erased.db')
  const store = sqlite(path)
  try {
    await store.open({ migrate: true, vault })
    const world = new RetentionWorld(store)
    for (const id of ['evt_secret', 'evt_newer']) await world.deliver({ id, key: id, eventAt: null }, dawn)
    await world.confirm(dawn)
    // A checkpoint moves the log into the file.
    const checkpoint = () => new DatabaseSync(path).exec('pragma wal_checkpoint(truncate)')
    checkpoint()
    const inFile = (text: string) => readFileSync(path).includes(text)
    assert.ok(inFile('body of evt_secret'), 'these tests seal nothing')
    await world.retain(periods, dawn + 3 * day)
    checkpoint()
    assert.ok(!inFile('body of evt_secret') && !inFile('request evt_secret'))
  } finally {
    await store.close()
    directory.remove()
  }
})
