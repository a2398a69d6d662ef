import assert from 'node:assert/strict'
import { it } from 'node:test'
import {
  accepted,
  alertsOf,
  bob,
  claim,
  delivery,
  type MakeStore,
  on,
  plansOf,
  start,
  unfit,
} from './given.ts'

/** Design decision 1, for events that came in one delivery. */
export function acceptingTogether(make: MakeStore): void {
  it(
    'each has its own receipt, payload and outbox record, and its answer in its place',
    on(make, async (store) => {
      const entries = [delivery(), delivery(), delivery()]
      const answers = await store.acceptAll(entries)
      assert.deepEqual(
        answers.map(({ outcome, receipt }) => [outcome, receipt]),
        entries.map(({ receipt }) => ['accepted', receipt.id]),
      )
      const records = plansOf(await claim(store))
      assert.deepEqual(
        records.map(({ receipt, payload }) => [receipt.id, { ...payload }]),
        entries.map(({ receipt, payload }) => [receipt.id, payload]),
      )
      assert.deepEqual(
        records.map(({ outbox }) => outbox),
        answers.map((answer) => answer.outcome === 'accepted' && answer.outbox),
      )
    }),
  )

  it(
    'they are told apart as if they had come one after the other',
    on(make, async (store) => {
      const known = await accepted(store, { event: 'known', body: 'one' })
      const twin = { event: 'twin', body: 'same', unsigned: true }
      const entries = [
        delivery({ event: 'known', body: 'one' }),
        delivery({ event: 'known', body: 'two' }),
        delivery(twin),
        delivery(twin),
        delivery({ ...twin, event: 'replayed' }),
        unfit('unsupported-type'),
      ]
      const answers = await store.acceptAll(entries)
      assert.deepEqual(
        answers.map(({ outcome }) => outcome),
        ['duplicate', 'conflict', 'accepted', 'duplicate', 'accepted', 'quarantined'],
      )
      assert.equal(answers[0]!.receipt, known.receipt)
      assert.equal(answers[3]!.receipt, answers[2]!.receipt)
      assert.equal(answers[4]!.outcome === 'accepted' && answers[4]!.sameContentAs, answers[2]!.receipt)
      const { receipts, quarantine } = await store.status()
      assert.deepEqual(
        [receipts.total, receipts.duplicates, receipts.byState.quarantined, quarantine],
        [5, 2, 2, 2],
      )
      assert.equal(alertsOf(await claim(store)).length, 2)
    }),
  )

  it(
    'one that cannot be written takes all of them back, and nothing else that shares their commit',
    on(make, async (store) => {
      const good = delivery()
      const sameReceiptId = { ...delivery(), receipt: { ...delivery().receipt, id: good.receipt.id } }
      const [together, alone] = await Promise.allSettled([
        store.acceptAll([good, delivery(), sameReceiptId]),
        store.accept(delivery()),
      ])
      assert.deepEqual([together?.status, alone?.status], ['rejected', 'fulfilled'])
      assert.equal((await store.status()).receipts.total, 1)
      assert.equal((await claim(store)).length, 1)
      assert.equal(await store.showReceipt(good.receipt.id), null)
    }),
  )

  it(
    'the lease of a hand-off holds for each of them',
    on(make, async (store) => {
      const leased = delivery({ handOff: { worker: bob, leaseMs: 5_000 } })
      await store.acceptAll([leased, delivery()])
      assert.equal((await claim(store)).length, 1)
      assert.equal((await claim(store, start + 5_000)).length, 1)
    }),
  )

  it(
    'of copies that race only one is new',
    on(make, async (store, { reopen }) => {
      const other = await reopen()
      const batch = () => [delivery({ event: 'a' }), delivery({ event: 'b' })]
      const answers = await Promise.all(
        Array.from({ length: 16 }, (_, index) => (index % 2 === 0 ? store : other).acceptAll(batch())),
      )
      assert.equal(answers.flat().filter(({ outcome }) => outcome === 'accepted').length, 2)
      assert.equal((await claim(store)).length, 2)
    }),
  )

  it(
    'none at all is nothing, and two thousand are one commit',
    on(make, async (store) => {
      assert.deepEqual(await store.acceptAll([]), [])
      const answers = await store.acceptAll(Array.from({ length: 2_000 }, () => delivery()))
      assert.equal(new Set(answers.map(({ receipt }) => receipt)).size, 2_000)
      assert.equal((await store.status()).receipts.total, 2_000)
    }),
  )
}
