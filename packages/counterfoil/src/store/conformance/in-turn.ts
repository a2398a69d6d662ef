import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { EffectId } from '../../domain/index.ts'
import type { Order } from '../records.ts'
import type { DueWork, Store } from '../store.ts'
import {
  accepted,
  alice,
  bob,
  leaseMs,
  type MakeStore,
  newEffect,
  on,
  planFor,
  settled,
  settlement,
  start,
} from './given.ts'

async function planned(
  store: Store,
  domain: string | null,
  version = 1,
  recipient = 'stream',
): Promise<EffectId> {
  const order: Order | null = domain === null ? null : { domain, version }
  const effect = {
    ...newEffect({ recipient }),
    order,
    ...(order === null ? {} : { inTurn: true as const }),
  }
  const answer = await store.plan(planFor(await accepted(store), effect))
  assert.equal(answer.kind, 'planned')
  return effect.id
}

async function take(store: Store, now = start, slots = 10, worker = alice): Promise<DueWork[]> {
  const taken = await store.takeDue({ worker, now, leaseMs, slots: { stream: slots }, inTurn: ['stream'] })
  return [...taken].sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
}

const orderOf = ({ effect: { order } }: DueWork) => (order === null ? '-' : `${order.domain}${order.version}`)

async function ends(
  store: Store,
  work: DueWork,
  to: 'confirmed' | 'refused' | 'planned' | 'unknown',
  dueAt: number | null,
) {
  const { effect } = work
  await settled(store, settlement({ effect, attempt: effect.attempts.length }, { to, dueAt }))
}

/** Effects that wait until every earlier version of their domain is final. */
export function inTurn(make: MakeStore): void {
  it(
    'one effect of a domain is begun, the earliest, and its next one only when it is final',
    on(make, async (store) => {
      for (const version of [3, 1, 2]) await planned(store, 'a', version)
      const seen: string[] = []
      for (let n = 0; n < 3; n++) {
        const [one, ...others] = await take(store)
        assert.deepEqual(others, [])
        assert.ok(one)
        seen.push(orderOf(one))
        assert.deepEqual(await take(store), [], 'while it is in flight')
        await ends(store, one, n === 1 ? 'refused' : 'confirmed', null)
      }
      assert.deepEqual(seen, ['a1', 'a2', 'a3'])
      assert.deepEqual(await take(store), [])
    }),
  )

  it(
    'nothing overtakes what is to be tried again later, is unknown, or waits for a person',
    on(make, async (store) => {
      for (const version of [1, 2]) await planned(store, 'a', version)
      const [first] = await take(store)
      await ends(store, first!, 'planned', start + 5_000)
      assert.deepEqual(await take(store, start + 4_999), [])
      const [again] = await take(store, start + 5_000)
      assert.equal(orderOf(again!), 'a1')
      await ends(store, again!, 'unknown', start + 60_000)
      assert.deepEqual(await take(store, start + 59_999), [])
      const [asked] = await take(store, start + 60_000)
      assert.deepEqual([asked?.kind, orderOf(asked!)], ['attention', 'a1'])
      await ends(store, asked!, 'unknown', null)
      assert.deepEqual(await take(store, start + 86_400_000), [], 'for as long as it takes')
      const [story] = await store.showEffects(asked!.effect.id)
      await ends(store, { kind: 'attention', effect: story!.effect }, 'confirmed', null)
      assert.deepEqual((await take(store, start + 86_400_000)).map(orderOf), ['a2'])
    }),
  )

  it(
    'an attempt whose lease ended keeps its place',
    on(make, async (store, { reopen }) => {
      for (const version of [1, 2]) await planned(store, 'a', version)
      await take(store)
      const other = await reopen()
      assert.deepEqual(await take(other, start + leaseMs - 1, 10, bob), [])
      assert.deepEqual((await take(other, start + leaseMs, 10, bob)).map(orderOf), ['a1'])
    }),
  )

  it(
    'domains do not wait for each other, and what has no order waits for nobody',
    on(make, async (store) => {
      for (const domain of ['a', 'b', 'c'])
        for (const version of [1, 2]) await planned(store, domain, version)
      await planned(store, null)
      await planned(store, null)
      assert.deepEqual((await take(store)).map(orderOf), ['-', '-', 'a1', 'b1', 'c1'])
    }),
  )

  it(
    'many who take at once never hold two of one domain',
    on(make, async (store, { reopen }) => {
      const other = await reopen()
      for (const domain of ['a', 'b', 'c', 'd', 'e'])
        for (const version of [1, 2, 3]) await planned(store, domain, version)
      for (let round = 1; round <= 3; round++) {
        const taken: DueWork[] = []
        while (taken.length < 5) {
          const more = await Promise.all(
            Array.from({ length: 6 }, (_, n) =>
              take(n % 2 === 0 ? store : other, start, 2, n % 2 === 0 ? alice : bob),
            ),
          )
          taken.push(...more.flat())
        }
        assert.deepEqual(
          taken.map(orderOf).sort(),
          ['a', 'b', 'c', 'd', 'e'].map((domain) => domain + round),
        )
        for (const one of taken) await ends(store, one, 'confirmed', null)
      }
    }),
  )

  it(
    'domains whose first effect is not ready do not hide the others, however many they are',
    on(make, async (store) => {
      const blocked = Array.from({ length: 150 }, (_, n) => `m${String(n).padStart(3, '0')}`)
      for (const domain of blocked) await planned(store, domain)
      for (let taken = 0; taken < blocked.length; ) {
        const some = await take(store, start, 40)
        for (const one of some) await ends(store, one, 'unknown', null)
        taken += some.length
      }
      for (const domain of blocked) await planned(store, domain, 2)
      await planned(store, 'z')
      const seen: DueWork[] = []
      for (let n = 0; n < 8 && seen.length === 0; n++) seen.push(...(await take(store, start, 4)))
      assert.deepEqual(seen.map(orderOf), ['z1'])
    }),
  )

  it(
    'limits hold for them too',
    on(make, async (store) => {
      for (const domain of ['a', 'b', 'c'])
        for (const version of [1, 2]) await planned(store, domain, version)
      const claim = { worker: alice, now: start, leaseMs, slots: { stream: 10 }, inTurn: ['stream'] }
      const limits = { stream: { concurrency: 2, rate: null } }
      const taken = await store.takeDue({ ...claim, limits })
      assert.equal(new Set(taken.map(({ effect }) => effect.order?.domain)).size, 2)
      assert.deepEqual(await store.takeDue({ ...claim, limits }), [])
      for (const one of taken) await ends(store, one, 'confirmed', null)
      // A round that has come to its end begins again with the next claim.
      const next = [
        ...(await store.takeDue({ ...claim, limits })),
        ...(await store.takeDue({ ...claim, limits })),
      ]
      assert.equal(next.length, 2)
      assert.deepEqual(await store.takeDue({ ...claim, limits }), [])
    }),
  )

  it(
    'is left to who plans: an order alone holds nothing back, also where the contract says so later',
    on(make, async (store) => {
      for (const version of [1, 2]) {
        const effect = { ...newEffect({ recipient: 'stream' }), order: { domain: 'a', version } }
        await store.plan(planFor(await accepted(store), effect))
      }
      assert.deepEqual((await take(store)).map(orderOf), ['a1', 'a2'])
    }),
  )
}
