import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unfit } from '../conformance/given.ts'
import { temporaryStore } from './fixtures/temporary.ts'
import { maxScanned } from './quarantine-list.ts'

test('a page looks at so many entries and no more: it may be empty and still name where the next one begins', async () => {
  const { store, dispose } = await temporaryStore()
  try {
    const oldest = await store.accept(unfit('unsupported-type', { event: 'the-oldest' }))
    for (let made = 0; made < maxScanned; made += 500) {
      await Promise.all(Array.from({ length: 500 }, () => store.accept(unfit('unsupported-type'))))
    }
    for (const state of [{}, { state: 'waiting' as const }]) {
      const query = { ...state, event: 'the-oldest', limit: 10 }
      const first = await store.listQuarantine(query)
      assert.deepEqual(first.entries, [])
      assert.ok(first.next !== null)
      const second = await store.listQuarantine({ ...query, before: first.next })
      assert.deepEqual(
        second.entries.map(({ receipt }) => receipt),
        [oldest.receipt],
      )
      assert.equal(second.next, null)
      const up = await store.listQuarantine({ ...query, after: '' })
      assert.deepEqual([up.entries.length, up.next !== null], [1, true])
    }
  } finally {
    await dispose()
  }
})
