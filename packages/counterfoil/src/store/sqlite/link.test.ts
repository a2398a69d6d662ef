import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { accepted, on } from '../conformance/given.ts'
import { temporaryStore } from './fixtures/temporary.ts'
import { Link } from './link.ts'

test(
  'after a failed sync nothing new is put behind log pages that may not be on the disk',
  on(temporaryStore, async (store) => {
    // This handle stays open, so that the log is not cleared by the last one to close.
    await accepted(store)
    const path = store.location
    assert.ok(statSync(`${path}-wal`).size > 0)
    const link = new Link({ path, busyTimeoutMs: 500, synchronous: 'full' })
    link.open(false)
    const failed = Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode: 1034 })
    assert.equal((link.told(failed, 'commit') as { code: string }).code, 'commit_unknown')
    assert.equal(link.inTransaction, false)
    assert.throws(() => link.connected(), { code: 'store_unavailable' })
    await sleep(80)
    link.connected()
    assert.equal(statSync(`${path}-wal`).size, 0)
    link.close()
    await accepted(store)
    assert.equal((await store.status()).receipts.total, 2)
  }),
)

test(
  'a file that went away under the store is not made anew',
  on(temporaryStore, async (store) => {
    const link = new Link({ path: `${store.location}.gone`, busyTimeoutMs: 500, synchronous: 'full' })
    assert.throws(() => link.connected(), { code: 'store_unavailable' })
  }),
)
