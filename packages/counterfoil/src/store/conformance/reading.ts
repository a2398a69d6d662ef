import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { EffectId } from '../../domain/index.ts'
import {
  accepted,
  alertsOf,
  begun,
  claim,
  delivery,
  type MakeStore,
  newEffect,
  on,
  planFor,
  plannedEffect,
  quarantine,
  settled,
  settlement,
  start,
  unfit,
  unknownEffect,
} from './given.ts'

/** What operators and the engine ask. */
export function reading(make: MakeStore): void {
  it(
    'receipts are listed newest first, page by page',
    on(make, async (store) => {
      const ids = []
      for (let i = 0; i < 7; i++) ids.unshift((await accepted(store)).receipt)
      const first = await store.listReceipts({ limit: 3 })
      const second = await store.listReceipts({ limit: 3, before: first[2]!.id })
      const third = await store.listReceipts({ limit: 3, before: second[2]!.id })
      assert.deepEqual(
        [...first, ...second, ...third].map(({ id }) => id),
        ids,
      )
    }),
  )

  it(
    'receipts are found by producer and by state',
    on(make, async (store) => {
      const waiting = await accepted(store, { producer: 'adyen' })
      const planned = await accepted(store)
      await store.plan(planFor(planned))
      const unsupported = await store.accept(unfit('unsupported-type', { producer: 'adyen' }))
      const list = async (query: object) =>
        (await store.listReceipts({ limit: 10, ...query })).map(({ id }) => id)
      assert.deepEqual(await list({ state: 'accepted' }), [waiting.receipt])
      assert.deepEqual(await list({ state: 'planned' }), [planned.receipt])
      assert.deepEqual(await list({ state: 'quarantined' }), [unsupported.receipt])
      assert.deepEqual(await list({ producer: 'adyen' }), [unsupported.receipt, waiting.receipt])
      assert.deepEqual(await list({ producer: 'adyen', state: 'accepted' }), [waiting.receipt])
      assert.deepEqual(await list({ producer: 'adyen', state: 'planned' }), [])
      assert.deepEqual(await list({ state: 'quarantined', before: unsupported.receipt }), [])
    }),
  )

  it(
    'a walk over receipts looks at so many and no more, and says where it ended',
    on(make, async (store) => {
      const ids: string[] = []
      for (let i = 0; i < 6; i++) {
        ids.unshift((await accepted(store, { producer: i === 1 ? 'rare' : 'stripe' })).receipt)
      }
      const walk = async (before?: string) => {
        const page = before === undefined ? {} : { before }
        const found = await store.listReceipts({ limit: 9, producer: 'rare', within: 3, ...page })
        return [found.map(({ id }) => id), await store.endOfWalk({ within: 3, ...page })]
      }
      assert.deepEqual(await walk(), [[], ids[2]])
      assert.deepEqual(await walk(ids[2]), [[ids[4]], ids[5]])
      assert.deepEqual(await walk(ids[5]), [[], null])
      assert.equal((await store.listReceipts({ limit: 9, producer: 'rare' })).length, 1)
      assert.equal((await store.listReceipts({ limit: 9, producer: 'rare', state: 'accepted' })).length, 1)
    }),
  )

  it(
    'effects are listed newest first, page by page, by recipient and by state',
    on(make, async (store) => {
      const confirmed = await begun(store)
      await settled(store, settlement(confirmed, { to: 'confirmed' }))
      const unknown = await unknownEffect(store)
      const mail = await plannedEffect(store, { recipient: 'mail' })
      const list = async (query: object) =>
        (await store.listEffects({ limit: 10, ...query })).map(({ id }) => id)
      assert.deepEqual(await list({}), [mail.id, unknown.id, confirmed.effect.id])
      assert.deepEqual(await list({ before: mail.id, limit: 1 }), [unknown.id])
      assert.deepEqual(await list({ recipient: 'bank' }), [unknown.id, confirmed.effect.id])
      assert.deepEqual(await list({ state: 'unknown' }), [unknown.id])
      assert.deepEqual(await list({ state: 'confirmed' }), [confirmed.effect.id])
      assert.deepEqual(await list({ state: 'planned', recipient: 'bank' }), [])
      assert.deepEqual((await store.listEffects({ limit: 1, state: 'unknown' }))[0], unknown)
    }),
  )

  it(
    'of one recipient those of each final state are walked alone, and those confirmed so far and no further',
    on(make, async (store) => {
      const ids: EffectId[] = []
      for (const to of ['refused', 'confirmed', 'fenced', 'refused', 'refused', 'refused'] as const) {
        const work = await begun(store)
        await settled(store, settlement(work, { to }))
        ids.unshift(work.effect.id)
      }
      const mail = await begun(store, { recipient: 'mail' })
      await settled(store, settlement(mail, { to: 'refused' }))
      const list = async (query: object) =>
        (await store.listEffects({ limit: 2, recipient: 'bank', ...query })).map(({ id }) => id)
      assert.deepEqual(await list({ state: 'refused' }), [ids[0], ids[1]])
      assert.deepEqual(await list({ state: 'refused', before: ids[1] }), [ids[2], ids[5]])
      assert.deepEqual(await list({ state: 'fenced' }), [ids[3]])
      assert.deepEqual(await list({ state: 'refused', recipient: 'mail' }), [mail.effect.id])
      assert.deepEqual(await list({ state: 'withdrawn' }), [])
      const of = { state: 'confirmed', within: 3 }
      assert.deepEqual(await list(of), [])
      const walk = { recipient: 'bank', within: 3 }
      assert.equal(await store.endOfEffects(walk), ids[2])
      assert.deepEqual(await list({ ...of, before: ids[2] }), [ids[4]])
      assert.equal(await store.endOfEffects({ ...walk, before: ids[2]! }), ids[5])
      assert.equal(await store.endOfEffects({ ...walk, before: ids[5]! }), null)
      assert.deepEqual(await list({ state: 'confirmed' }), [ids[4]])
      assert.deepEqual(
        (await store.listEffects({ limit: 9, state: 'confirmed', within: 7 })).map(({ id }) => id),
        [ids[4]],
      )
      assert.equal(await store.endOfEffects({ within: 6 }), ids[4])
      assert.equal(await store.endOfEffects({ within: 8 }), null)
    }),
  )

  it(
    'an effect is found by its id, its key and its idempotency key',
    on(make, async (store) => {
      const one = await plannedEffect(store, { key: 'invoice/1' })
      const two = await plannedEffect(store, { key: 'invoice/1', recipient: 'mail' })
      const find = async (name: string) => (await store.showEffects(name)).map(({ effect }) => effect.id)
      assert.deepEqual(await find(one.id), [one.id])
      assert.deepEqual(new Set(await find('invoice/1')), new Set([one.id, two.id]))
      assert.deepEqual(await find(two.idempotencyKey), [two.id])
      assert.deepEqual(await find('invoice/2'), [])
    }),
  )

  it(
    'a cause names the event and the trigger',
    on(make, async (store) => {
      const entry = delivery({ event: 'evt_9', type: 'invoice.paid' })
      const answer = await store.accept(entry)
      assert.equal(answer.outcome, 'accepted')
      await store.plan(
        planFor(
          { outbox: answer.outcome === 'accepted' ? answer.outbox : 0, receipt: answer.receipt },
          newEffect({ key: 'k' }),
        ),
      )
      const [story] = await store.showEffects('k')
      assert.deepEqual(
        story?.causes.map((cause) => ({ ...cause })),
        [
          {
            receipt: answer.receipt,
            producer: 'stripe',
            eventId: 'evt_9',
            type: 'invoice.paid',
            trigger: 'collect a paid invoice',
            at: start,
          },
        ],
      )
    }),
  )

  it(
    'what is not there is null',
    on(make, async (store) => {
      assert.equal(await store.showReceipt('rcp_none'), null)
      assert.equal(await store.showQuarantine('qua_none'), null)
      assert.equal(await store.readVault('vault/999'), null)
      assert.equal(await store.readVault('nonsense'), null)
      assert.deepEqual(await store.listReceipts({ limit: 5 }), [])
      assert.deepEqual(await store.listEffects({ limit: 5 }), [])
    }),
  )

  it(
    'the status counts what there is',
    on(make, async (store, { reopen }) => {
      const empty = await store.status()
      assert.deepEqual(empty.receipts, {
        total: 0,
        duplicates: 0,
        byState: { accepted: 0, planned: 0, quarantined: 0 },
      })
      assert.deepEqual(empty.outbox, { waiting: 0, oldestAt: null })
      await accepted(store, { event: 'waits', at: start - 500 })
      await store.accept(delivery({ event: 'waits' }))
      await store.accept(unfit('unsupported-type'))
      const failed = await accepted(store)
      await store.quarantinePlan({ ...failed, quarantine: quarantine('plan-failed'), at: start })
      await settled(store, settlement(await begun(store), { to: 'confirmed' }))
      await unknownEffect(store)
      await plannedEffect(store)
      const before = await store.status()
      assert.deepEqual(before.outbox, { waiting: 3, oldestAt: start - 500 })
      const [alert] = alertsOf(await claim(store))
      await store.consumeAlert(alert!.outbox)
      const status = await (await reopen()).status()
      assert.ok(status.schema >= 1)
      assert.deepEqual(status.receipts, {
        total: 6,
        duplicates: 1,
        byState: { accepted: 1, planned: 3, quarantined: 2 },
      })
      assert.equal(status.quarantine, 2)
      // A lease does not make a record younger.
      assert.deepEqual(status.outbox, { waiting: 2, oldestAt: start - 500 })
      assert.deepEqual(status.effects, {
        total: 3,
        byState: { planned: 1, attempting: 0, unknown: 1, confirmed: 1, refused: 0, fenced: 0, withdrawn: 0 },
        disputed: 0,
        escalated: 0,
      })
    }),
  )
}
