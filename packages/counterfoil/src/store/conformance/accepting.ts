import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { TraceParent } from '../../domain/index.ts'
import {
  accepted,
  alertsOf,
  claim,
  delivery,
  type MakeStore,
  on,
  plansOf,
  quarantine,
  rejects,
  sealed,
  start,
  unfit,
} from './given.ts'

/** Design decision 1. */
export function accepting(make: MakeStore): void {
  it(
    'a new delivery has its receipt, its sealed payload and its outbox record',
    on(make, async (store) => {
      const entry = delivery()
      const answer = await store.accept(entry)
      assert.equal(answer.outcome, 'accepted')
      const [record, ...others] = plansOf(await claim(store))
      assert.ok(record)
      assert.equal(others.length, 0)
      assert.equal(record.receipt.id, entry.receipt.id)
      assert.deepEqual({ ...record.payload }, entry.payload)
      assert.equal(record.tries, 0)
      const { vault } = record.receipt
      assert.deepEqual({ ...(await store.readVault(vault)) }, entry.payload)
    }),
  )

  it(
    'a receipt shows every field as it was given',
    on(make, async (store) => {
      const plain = delivery({ event: 'größe/🧾/"quoted"' })
      const receipt = {
        ...plain.receipt,
        schemaVersion: '2025-06-30',
        eventAt: start - 5,
        origin: 'backfill/march',
        provenance: 'unsigned' as const,
        trace: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' as TraceParent,
      }
      for (const entry of [
        plain,
        { ...delivery(), receipt: { ...receipt, ...distinct(delivery().receipt) } },
        // Whether its identity is signed may decide which statement writes it.
        {
          ...delivery(),
          receipt: {
            ...receipt,
            ...distinct(delivery().receipt),
            provenance: 'signed' as const,
            waived: 'signature' as const,
          },
        },
      ]) {
        await store.accept(entry)
        const story = await store.showReceipt(entry.receipt.id)
        const { vault, ...view } = story!.receipt
        assert.deepEqual(view, {
          ...entry.receipt,
          state: 'accepted',
          duplicates: 0,
          lastDuplicateAt: null,
          conflictsWith: null,
          sameContentAs: null,
          plannedAt: null,
          plannedBy: null,
        })
        assert.equal(typeof vault, 'string')
      }
    }),
  )

  it(
    'bytes are bytes: zeros, an empty payload and a megabyte come back as they were (C19)',
    on(make, async (store) => {
      for (const body of ['{"a":"\u0000"}', '', 'x'.repeat(1_048_576)]) {
        const entry = { ...delivery(), payload: sealed(body) }
        await store.accept(entry)
        const { receipt } = (await store.showReceipt(entry.receipt.id))!
        const payload = await store.readVault(receipt.vault)
        assert.equal(Buffer.compare(payload!.ciphertext, entry.payload.ciphertext), 0)
      }
    }),
  )

  it(
    'the same delivery again is a duplicate: counted, and nothing else changes',
    on(make, async (store) => {
      const { receipt } = await accepted(store, { event: 'evt' })
      const again = await store.accept(delivery({ event: 'evt', at: start + 7 }))
      assert.deepEqual(again, { outcome: 'duplicate', receipt })
      const [view, ...others] = await store.listReceipts({ limit: 10 })
      assert.equal(others.length, 0)
      assert.equal(view?.duplicates, 1)
      assert.equal(view?.lastDuplicateAt, start + 7)
      assert.equal((await claim(store, start + 10)).length, 1)
    }),
  )

  it(
    'the same event id of another namespace is another event',
    on(make, async (store) => {
      await accepted(store, { event: 'evt', producer: 'stripe' })
      await accepted(store, { event: 'evt', producer: 'adyen' })
      assert.equal((await store.status()).receipts.total, 2)
    }),
  )

  it(
    '64 copies at once make one receipt and one outbox record (C28)',
    on(make, async (store) => {
      const answers = await Promise.all(
        Array.from({ length: 64 }, () => store.accept(delivery({ event: 'evt' }))),
      )
      assert.equal(answers.filter(({ outcome }) => outcome === 'accepted').length, 1)
      assert.equal(answers.filter(({ outcome }) => outcome === 'duplicate').length, 63)
      assert.equal(new Set(answers.map(({ receipt }) => receipt)).size, 1)
      assert.equal((await claim(store)).length, 1)
      assert.equal((await store.showReceipt(answers[0]!.receipt))?.receipt.duplicates, 63)
    }),
  )

  it(
    '64 copies at once through two handles make one receipt and one outbox record',
    on(make, async (store, { reopen }) => {
      const other = await reopen()
      const answers = await Promise.all(
        Array.from({ length: 64 }, (_, index) =>
          (index % 2 === 0 ? store : other).accept(delivery({ event: 'evt' })),
        ),
      )
      assert.equal(answers.filter(({ outcome }) => outcome === 'accepted').length, 1)
      assert.equal((await claim(other)).length, 1)
    }),
  )

  it(
    'same identity with another fingerprint is a receipt of its own, in quarantine beside the first',
    on(make, async (store) => {
      const first = await accepted(store, { event: 'evt', body: 'one' })
      const entry = delivery({ event: 'evt', body: 'two' })
      const answer = await store.accept(entry)
      assert.deepEqual(answer, {
        outcome: 'conflict',
        receipt: entry.receipt.id,
        quarantine: entry.onConflict.id,
        first: first.receipt,
        repeated: false,
      })
      const story = (await store.showReceipt(entry.receipt.id))!
      assert.equal(story.receipt.state, 'quarantined')
      assert.equal(story.receipt.conflictsWith, first.receipt)
      assert.equal(story.quarantine?.reason, 'identity-conflict')
      assert.equal(story.quarantine?.owner, 'billing')
      assert.match(JSON.stringify(story.quarantine?.detail), new RegExp(entry.receipt.fingerprint))
      assert.deepEqual({ ...(await store.readVault(story.receipt.vault)) }, entry.payload)
      // The first goes on, the other has an alert and no plan.
      const waiting = await claim(store)
      assert.deepEqual(
        plansOf(waiting).map(({ receipt }) => receipt.id),
        [first.receipt],
      )
      assert.deepEqual(
        alertsOf(waiting).map(({ alert }) => alert.receipt),
        [entry.receipt.id],
      )
    }),
  )

  it(
    'an identity conflict that comes again is counted, and a third content is a conflict of its own',
    on(make, async (store) => {
      const first = await accepted(store, { event: 'evt', body: 'one' })
      const conflict = await store.accept(delivery({ event: 'evt', body: 'two' }))
      assert.equal(conflict.outcome, 'conflict')
      const again = await store.accept(delivery({ event: 'evt', body: 'two' }))
      assert.deepEqual(again, { ...conflict, repeated: true })
      const third = await store.accept(delivery({ event: 'evt', body: 'three' }))
      assert.equal(third.outcome === 'conflict' && third.repeated, false)
      assert.deepEqual(await store.accept(delivery({ event: 'evt', body: 'one' })), {
        outcome: 'duplicate',
        receipt: first.receipt,
      })
      assert.equal((await store.showReceipt(conflict.receipt))?.receipt.duplicates, 1)
      assert.equal((await store.listQuarantine({ limit: 10 })).entries.length, 2)
      assert.equal(alertsOf(await claim(store)).length, 2)
    }),
  )

  it(
    '64 copies of two contents at once make one receipt and one conflict',
    on(make, async (store) => {
      const answers = await Promise.all(
        Array.from({ length: 64 }, (_, index) =>
          store.accept(delivery({ event: 'evt', body: index % 2 === 0 ? 'one' : 'two' })),
        ),
      )
      const count = (outcome: string) => answers.filter((answer) => answer.outcome === outcome).length
      assert.deepEqual([count('accepted'), count('duplicate'), count('conflict')], [1, 31, 32])
      assert.equal((await store.status()).receipts.total, 2)
    }),
  )

  it(
    'an authentic delivery that can start no work has receipt, quarantine entry and alert, and no plan',
    on(make, async (store) => {
      const entry = unfit('unsupported-type')
      const answer = await store.accept(entry)
      assert.equal(answer.outcome, 'quarantined')
      const { quarantine: entered, receipt } = (await store.showReceipt(entry.receipt.id))!
      assert.equal(receipt.state, 'quarantined')
      assert.deepEqual(entered?.detail, { fault: 'as stated' })
      assert.equal(entered?.vault, receipt.vault)
      const waiting = await claim(store)
      assert.equal(plansOf(waiting).length, 0)
      const { alert } = alertsOf(waiting)[0]!
      assert.deepEqual(
        { ...alert },
        {
          reason: 'unsupported-type',
          owner: 'billing',
          receipt: receipt.id,
          quarantine: entered?.id,
          effect: null,
          occasion: 'raised',
          at: start,
        },
      )
    }),
  )

  it(
    'a type nobody handles, a hundred times, is one receipt in quarantine with one alert (C05)',
    on(make, async (store) => {
      const answers = []
      for (let i = 0; i < 100; i++)
        answers.push(await store.accept(unfit('unsupported-type', { event: 'evt' })))
      const [first, ...repeated] = answers
      assert.ok(first?.outcome === 'quarantined' && !first.repeated)
      for (const answer of repeated) assert.deepEqual(answer, { ...first, repeated: true })
      assert.equal((await store.listQuarantine({ limit: 10 })).entries.length, 1)
      assert.equal(alertsOf(await claim(store)).length, 1)
    }),
  )

  it(
    'a delivery whose plan failed later is a plain duplicate when it comes again',
    on(make, async (store) => {
      const { receipt, outbox } = await accepted(store, { event: 'evt' })
      await store.quarantinePlan({ outbox, receipt, quarantine: quarantine('plan-failed'), at: start })
      assert.deepEqual(await store.accept(delivery({ event: 'evt' })), { outcome: 'duplicate', receipt })
    }),
  )

  it(
    'the same content under another id is told, where the signature does not cover the id (C18)',
    on(make, async (store) => {
      const first = await accepted(store, { body: 'same', unsigned: true })
      assert.equal(first.sameContentAs, null)
      const second = await accepted(store, { body: 'same', unsigned: true })
      assert.equal(second.sameContentAs, first.receipt)
      const third = await accepted(store, { body: 'same', unsigned: true })
      assert.equal(third.sameContentAs, first.receipt)
      assert.equal((await store.showReceipt(third.receipt))?.receipt.sameContentAs, first.receipt)
      assert.equal(
        (await accepted(store, { body: 'same', unsigned: true, producer: 'other' })).sameContentAs,
        null,
      )
      assert.equal((await accepted(store, { body: 'same' })).sameContentAs, null)
    }),
  )

  it(
    'of many deliveries at once each has its own outbox record',
    on(make, async (store) => {
      const answers = await Promise.all(Array.from({ length: 1_500 }, () => accepted(store)))
      assert.equal(new Set(answers.map(({ outbox }) => outbox)).size, 1_500)
      const records = plansOf(await claim(store, start, undefined, 2_000))
      assert.deepEqual(
        new Set(records.map(({ receipt }) => receipt.id)),
        new Set(answers.map(({ receipt }) => receipt)),
      )
    }),
  )

  it(
    'a call that cannot be written fails alone, whatever shares its commit',
    on(make, async (store) => {
      const good = delivery()
      const sameReceiptId = { ...delivery(), receipt: { ...delivery().receipt, id: good.receipt.id } }
      const noDigest = { ...delivery(), receipt: { ...delivery().receipt, fingerprint: 'nonsense' as never } }
      const calls = [good, sameReceiptId, delivery(), noDigest, delivery()].map((entry) =>
        store.accept(entry),
      )
      const results = await Promise.allSettled(calls)
      assert.deepEqual(
        results.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'],
      )
      await rejects(calls[1]!, 'internal')
      assert.equal((await store.status()).receipts.total, 3)
      assert.equal((await claim(store)).length, 3)
    }),
  )
}

/** What has to differ between two receipts. */
function distinct({ id, delivery: digest, eventId }: ReturnType<typeof delivery>['receipt']) {
  return { id, delivery: digest, eventId }
}
