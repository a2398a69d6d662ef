import assert from 'node:assert/strict'
import { it } from 'node:test'
import {
  accepted,
  alertsOf,
  alice,
  bob,
  claim,
  delivery,
  leaseMs,
  type MakeStore,
  muchLater,
  on,
  planFor,
  plansOf,
  quarantine,
  start,
  unfit,
} from './given.ts'

/** Records committed with the state that caused them, waiting for the relay. */
export function outbox(make: MakeStore): void {
  it(
    'a record is handed on once while its lease runs, and again when it ran out',
    on(make, async (store) => {
      const { receipt } = await accepted(store)
      assert.equal((await claim(store, start)).length, 1)
      assert.equal((await claim(store, start + leaseMs - 1, bob)).length, 0)
      const [again] = plansOf(await claim(store, start + leaseMs, bob))
      assert.equal(again?.receipt.id, receipt)
    }),
  )

  it(
    'a record that was handed off in memory waits for its lease',
    on(make, async (store) => {
      await accepted(store, { handOff: { worker: alice, leaseMs } })
      assert.equal((await claim(store, start + leaseMs - 1, bob)).length, 0)
      assert.equal((await claim(store, start + leaseMs, bob)).length, 1)
    }),
  )

  it(
    'a claim takes no more than it asked for',
    on(make, async (store) => {
      for (let i = 0; i < 5; i++) await accepted(store)
      assert.equal((await claim(store, start, alice, 0)).length, 0)
      assert.equal((await claim(store, start, alice, 2)).length, 2)
      assert.equal((await claim(store, start, alice, 10)).length, 3)
    }),
  )

  it(
    'hand-on is by state: an older id that commits later is not passed over (C22)',
    on(make, async (store) => {
      const [older, newer] = [delivery({ at: start }), delivery({ at: start + 50 })]
      await store.accept(newer)
      const [first] = plansOf(await claim(store, start + 100))
      assert.equal(first?.receipt.id, newer.receipt.id)
      await store.accept(older)
      const [second] = plansOf(await claim(store, start + 100))
      assert.equal(second?.receipt.id, older.receipt.id)
    }),
  )

  it(
    'two handles that claim at once never get the same record',
    on(make, async (store, { reopen }) => {
      const other = await reopen()
      for (let i = 0; i < 40; i++) await accepted(store)
      const claims = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          claim(index % 2 === 0 ? store : other, start, index % 2 === 0 ? alice : bob, 10),
        ),
      )
      const numbers = claims.flat().map((record) => record.outbox)
      assert.equal(numbers.length, 40)
      assert.equal(new Set(numbers).size, 40)
    }),
  )

  it(
    'a postponed record waits for its time, and its tries are counted',
    on(make, async (store) => {
      const { outbox: number } = await accepted(store)
      await claim(store)
      await store.postponePlan({ outbox: number, at: start + 500, error: 'internal: it threw' })
      assert.equal((await claim(store, start + 499)).length, 0)
      const [record] = await claim(store, start + 500)
      assert.equal(record?.tries, 1)
    }),
  )

  it(
    'leases that ran out are counted, up to where a record is planned alone; a plan that threw is not one of them',
    on(make, async (store) => {
      const { outbox } = await accepted(store, { handOff: { worker: alice, leaseMs } })
      const lost = async (at: number) => plansOf(await claim(store, at, bob)).map((record) => record.lost)
      assert.deepEqual(await lost(start + leaseMs), [1])
      await store.postponePlan({ outbox, at: start + leaseMs, error: 'internal: it threw' })
      assert.deepEqual(await lost(start + leaseMs), [1])
      assert.deepEqual(await lost(start + 2 * leaseMs), [2])
      assert.deepEqual(await lost(start + 3 * leaseMs), [2])
      assert.equal(await store.tryAlone({ worker: alice, outbox }), undefined)
      assert.equal(await store.tryAlone({ worker: bob, outbox }), 3)
      assert.equal(await store.tryAlone({ worker: bob, outbox: outbox + 99 }), undefined)
      assert.deepEqual(await lost(start + 4 * leaseMs), [3])
    }),
  )

  it(
    'a worker that still holds a record renews its lease, and no other does',
    on(make, async (store) => {
      const { outbox } = await accepted(store)
      const other = await accepted(store)
      await claim(store, start, alice)
      const renewal = { outbox: [outbox, outbox + 99], now: start + leaseMs - 1, leaseMs }
      await store.renewOutbox({ ...renewal, worker: bob })
      await store.renewOutbox({ ...renewal, worker: alice })
      const taken = await claim(store, start + leaseMs, bob)
      assert.deepEqual(
        taken.map((record) => record.outbox),
        [other.outbox],
      )
      assert.equal((await claim(store, start + 2 * leaseMs - 1, bob)).length, 1)
    }),
  )

  it(
    'a consumed record is handed on no more',
    on(make, async (store) => {
      await store.plan(planFor(await accepted(store)))
      assert.equal((await claim(store, muchLater)).length, 0)
    }),
  )

  it(
    'an alert is handed on until it is consumed, and can be postponed',
    on(make, async (store) => {
      await store.accept(unfit('schema-failure'))
      const [alert] = alertsOf(await claim(store))
      assert.ok(alert)
      assert.equal((await claim(store, start + 1)).length, 0)
      await store.postponePlan({ outbox: alert.outbox, at: start + 500, error: 'no mail server' })
      const [again] = alertsOf(await claim(store, start + 500))
      assert.equal(again?.tries, 1)
      assert.deepEqual(again?.alert, alert.alert)
      await store.consumeAlert(alert.outbox)
      await store.consumeAlert(alert.outbox)
      assert.equal((await claim(store, muchLater)).length, 0)
      assert.equal((await store.status()).outbox.waiting, 0)
    }),
  )

  it(
    'a flood of alerts leaves room for plans',
    on(make, async (store) => {
      for (let i = 0; i < 10; i++) await store.accept(unfit('unsupported-type'))
      await accepted(store)
      assert.equal(plansOf(await claim(store, start, alice, 8)).length, 1)
    }),
  )

  it(
    'a record that is given up puts its receipt in quarantine with an alert',
    on(make, async (store) => {
      const { outbox: number, receipt } = await accepted(store)
      const entry = quarantine('plan-failed')
      await store.quarantinePlan({ outbox: number, receipt, quarantine: entry, at: start + 9 })
      const story = (await store.showReceipt(receipt))!
      assert.equal(story.receipt.state, 'quarantined')
      assert.equal(story.quarantine?.id, entry.id)
      assert.equal(story.quarantine?.at, start + 9)
      const waiting = await claim(store, muchLater)
      assert.deepEqual(
        waiting.map(({ kind }) => kind),
        ['alert'],
      )
    }),
  )

  it(
    'giving up does nothing to a record that was consumed, or that is another receipt’s',
    on(make, async (store) => {
      const planned = await accepted(store)
      await store.plan(planFor(planned))
      await store.quarantinePlan({ ...planned, quarantine: quarantine('plan-failed'), at: start })
      const [one, two] = [await accepted(store), await accepted(store)]
      await store.quarantinePlan({
        outbox: one.outbox,
        receipt: two.receipt,
        quarantine: quarantine('plan-failed'),
        at: start,
      })
      await store.postponePlan({ outbox: planned.outbox, at: start, error: 'late' })
      assert.equal((await store.listQuarantine({ limit: 10 })).entries.length, 0)
      assert.equal((await store.showReceipt(planned.receipt))?.receipt.state, 'planned')
      assert.equal((await claim(store)).length, 2)
    }),
  )

  it(
    'the backlog is what waits for a plan: claimed, postponed or not, and no alert',
    on(make, async (store, { reopen }) => {
      assert.equal(await store.backlog(), 0)
      await store.acceptAll([delivery(), delivery(), delivery(), unfit('schema-failure')])
      const copy = delivery({ event: 'twice' })
      await store.accept(copy)
      await store.accept(copy)
      assert.equal(await store.backlog(), 4)
      const [one, two, three] = plansOf(await claim(store))
      await store.postponePlan({ outbox: one!.outbox, at: muchLater, error: 'x' })
      assert.equal(await store.backlog(), 4)
      await store.plan(planFor({ outbox: two!.outbox, receipt: two!.receipt.id }))
      await store.quarantinePlan({
        outbox: three!.outbox,
        receipt: three!.receipt.id,
        quarantine: quarantine('plan-failed'),
        at: start,
      })
      assert.equal(await (await reopen()).backlog(), 2)
    }),
  )
}
