import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Limits } from '../../domain/index.ts'
import type { DueWork, Store } from '../store.ts'
import {
  alice,
  begun,
  bob,
  effectOf,
  leaseMs,
  type MakeStore,
  on,
  plannedEffect,
  settled,
  settlement,
  start,
  unknownEffect,
} from './given.ts'

const none: Limits = { concurrency: null, rate: null }
const atOnce = (concurrency: number): Limits => ({ ...none, concurrency })
const aSecond = (count: number): Limits => ({ ...none, rate: { count, perMs: 1_000 } })

function take(store: Store, limits: Limits, now = start, worker = alice): Promise<DueWork[]> {
  return store.takeDue({ worker, now, leaseMs, slots: { bank: 100 }, limits: { bank: limits } })
}

async function planned(store: Store, count: number, recipient = 'bank'): Promise<void> {
  for (let n = 0; n < count; n++) await plannedEffect(store, { recipient })
}

/** What all workers together may do at one recipient. */
export function limiting(make: MakeStore): void {
  it(
    'no more attempts of a recipient are in flight than its limit, however many workers take at once',
    on(make, async (store, { reopen }) => {
      const other = await reopen()
      await planned(store, 10)
      const taken = await Promise.all(
        Array.from({ length: 8 }, (_, n) => take(n % 2 === 0 ? store : other, atOnce(3), start, bob)),
      )
      // Who comes while another takes may get nothing; who comes later gets what is left.
      const begunNow = [...taken.flat(), ...(await take(store, atOnce(3)))]
      assert.equal(begunNow.length, 3)
      assert.deepEqual(await take(other, atOnce(3)), [])
    }),
  )

  it(
    'an attempt that ended leaves its place to the next, whatever its end was',
    on(make, async (store) => {
      await planned(store, 6)
      const [one, two, three] = await take(store, atOnce(3))
      for (const [work, to] of [
        [one, 'confirmed'],
        [two, 'unknown'],
        [three, 'planned'],
      ] as const) {
        assert.ok(work?.kind === 'attempt')
        await settled(store, settlement(work, { to, dueAt: to === 'confirmed' ? null : start + 600_000 }))
      }
      assert.equal((await take(store, atOnce(3))).length, 3)
      assert.deepEqual(await take(store, atOnce(3)), [])
    }),
  )

  it(
    'an effect that is planned again and begun again is in flight once',
    on(make, async (store) => {
      await planned(store, 1)
      const [work] = await take(store, atOnce(2))
      assert.ok(work?.kind === 'attempt')
      await settled(store, settlement(work, { to: 'planned', dueAt: start }))
      assert.equal((await take(store, atOnce(2))).length, 1)
      await planned(store, 2)
      assert.equal((await take(store, atOnce(2))).length, 1)
    }),
  )

  it(
    'a lease that ended holds no place; one that is renewed does',
    on(make, async (store) => {
      const kept = (await begunUnder(store, atOnce(2))).effect
      await begunUnder(store, atOnce(2))
      await store.renew({ worker: alice, effects: [kept.id], now: start + 1_000, leaseMs })
      await planned(store, 2)
      assert.deepEqual(await take(store, atOnce(2), start + leaseMs - 1), [])
      const taken = await take(store, atOnce(2), start + leaseMs, bob)
      assert.deepEqual(
        taken.map(({ kind, effect }) => [kind, effect.plannedAt]),
        [['attempt', start]],
      )
    }),
  )

  it(
    'a rate lets its count begin at once, then as time brings them, and none for a clock that was set back',
    on(make, async (store) => {
      await planned(store, 12)
      const at = async (now: number) => (await take(store, aSecond(4), now)).length
      assert.equal(await at(start), 4)
      assert.equal(await at(start), 0)
      assert.equal(await at(start + 249), 0)
      assert.equal(await at(start + 250), 1)
      assert.equal(await at(start + 800), 2)
      assert.equal(await at(start + 600), 0)
      assert.equal(await at(start + 10_000), 4)
      assert.equal(await at(start + 10_000), 0)
    }),
  )

  it(
    'both limits hold together',
    on(make, async (store) => {
      await planned(store, 9)
      const limits = { ...aSecond(5), concurrency: 3 }
      assert.equal((await take(store, limits)).length, 3)
      for (const { id } of (await store.listEffects({ limit: 9, state: 'attempting' })).slice(0, 3)) {
        const effect = await effectOf(store, id)
        await settled(store, settlement({ effect, attempt: 1 }, { to: 'confirmed' }))
      }
      assert.equal((await take(store, limits)).length, 2)
    }),
  )

  it(
    'the limits of one recipient hold back no other',
    on(make, async (store) => {
      await planned(store, 3)
      await planned(store, 3, 'mail')
      await planned(store, 3, 'post')
      const taken = await store.takeDue({
        worker: alice,
        now: start,
        leaseMs,
        slots: { bank: 9, mail: 9, post: 2 },
        limits: { bank: atOnce(1), post: aSecond(5) },
      })
      const count = (name: string) => taken.filter(({ effect }) => effect.recipient === name).length
      assert.deepEqual([count('bank'), count('mail'), count('post')], [1, 3, 2])
    }),
  )

  it(
    'what is only attended to takes no token and no place',
    on(make, async (store) => {
      await unknownEffect(store)
      const limits = { ...aSecond(1), concurrency: 1 }
      const [due] = await take(store, limits, start + 60_000)
      assert.equal(due?.kind, 'attention')
      await plannedEffect(store)
      assert.equal((await take(store, limits, start + 60_000)).length, 1)
    }),
  )

  it(
    'a repeat without room is not begun, and is due again when there may be some',
    on(make, async (store) => {
      const { id, version } = await unknownEffect(store)
      const repeat = async (limits: Limits, now: number) =>
        store.beginRepeat({
          effect: id,
          expectedVersion: version,
          worker: bob,
          now,
          leaseMs,
          limited: { recipient: 'bank', limits },
        })
      await begunUnder(store, { ...aSecond(2), concurrency: 1 })
      assert.equal(await repeat(atOnce(1), start + 1), null)
      assert.equal((await effectOf(store, id)).dueAt, start + 1_001)
      // The second of two tokens.
      await begunUnder(store, aSecond(2))
      assert.equal(await repeat(aSecond(2), start + 100), null)
      const held = await effectOf(store, id)
      assert.deepEqual([held.dueAt, held.state, held.version], [start + 500, 'unknown', version])
      assert.equal((await repeat(aSecond(2), start + 500))?.attempt, 2)
    }),
  )

  it(
    'a repeat takes its token and its place',
    on(make, async (store) => {
      const { id: effect, version: expectedVersion } = await unknownEffect(store)
      const limits = { ...aSecond(1), concurrency: 1 }
      const limited = { recipient: 'bank', limits }
      assert.ok(
        await store.beginRepeat({ effect, expectedVersion, worker: bob, now: start, leaseMs, limited }),
      )
      await planned(store, 1)
      assert.deepEqual(await take(store, limits, start), [])
      assert.deepEqual(await take(store, aSecond(1), start), [])
      assert.deepEqual(await take(store, atOnce(1), start + 1_000), [])
      assert.equal((await take(store, aSecond(1), start + 1_000)).length, 1)
    }),
  )

  it(
    'a recipient without limits is as it was',
    on(make, async (store) => {
      await begun(store)
      await planned(store, 3)
      assert.equal((await take(store, none)).length, 3)
    }),
  )
}

async function begunUnder(store: Store, limits: Limits) {
  const { id } = await plannedEffect(store)
  const work = (await take(store, limits)).find(({ effect }) => effect.id === id)
  assert.ok(work?.kind === 'attempt')
  return work
}
