import assert from 'node:assert/strict'
import { it } from 'node:test'
import { accepted, begun, claim, delivery, effectOf, type MakeStore, on, rejects } from './given.ts'

/** Opening and closing. */
export function lifetime(make: MakeStore): void {
  it(
    'a store that is open may be opened again: nothing is migrated twice',
    on(make, async (store) => {
      const report = await store.open({ migrate: true })
      assert.deepEqual(report.applied, [])
      assert.equal(report.from, report.to)
    }),
  )

  it(
    'a closed store takes nothing in, and closing again is no fault',
    on(make, async (store) => {
      await store.close()
      await store.close()
      await rejects(store.accept(delivery()), 'store_closed')
      await rejects(store.status(), 'store_closed')
      await rejects(store.beginPlan({ timeoutMs: 100 }), 'store_closed')
    }),
  )

  it(
    'closing finishes what was taken in',
    on(make, async (store, { reopen }) => {
      const taken = Promise.all(Array.from({ length: 300 }, () => accepted(store)))
      const closing = store.close()
      await rejects(store.accept(delivery()), 'store_closed')
      assert.equal((await taken).length, 300)
      await closing
      assert.equal((await (await reopen()).status()).receipts.total, 300)
    }),
  )

  it(
    'what was committed is there after it was opened again',
    on(make, async (store) => {
      const waiting = await accepted(store)
      const { effect } = await begun(store)
      await store.close()
      await store.open({ migrate: false })
      assert.deepEqual(await effectOf(store, effect.id), effect)
      const [record] = await claim(store)
      assert.equal(record?.outbox, waiting.outbox)
    }),
  )
}
