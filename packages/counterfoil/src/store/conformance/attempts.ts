import assert from 'node:assert/strict'
import { it } from 'node:test'
import { begunAttempt } from '../begun.ts'
import {
  accepted,
  alice,
  begun,
  bob,
  effectOf,
  leaseMs,
  type MakeStore,
  muchLater,
  newEffect,
  on,
  planFor,
  plannedEffect,
  settled,
  settlement,
  start,
  unknownEffect,
} from './given.ts'

const bank = { bank: 100 }

function ordered(domain: string, version: number) {
  return { ...newEffect(), order: { domain, version } }
}

/** Design decision 3. */
export function attempts(make: MakeStore): void {
  it(
    'a planned effect that is due is begun: its attempt and lease are durable before the worker has it (I5)',
    on(make, async (store, { reopen }) => {
      const { id } = await plannedEffect(store)
      const [work, ...others] = await store.takeDue({ worker: alice, now: start + 5, leaseMs, slots: bank })
      assert.equal(others.length, 0)
      assert.ok(work?.kind === 'attempt')
      assert.equal(work.attempt, 1)
      assert.equal(Buffer.from(work.request.ciphertext).toString(), 'request pay')
      const seen = await effectOf(await reopen(), id)
      assert.deepEqual(seen, work.effect)
      assert.equal(seen.state, 'attempting')
      assert.equal(seen.version, 2)
      assert.equal(seen.changedAt, start + 5)
      assert.equal(seen.dueAt, start + 5 + leaseMs)
      assert.deepEqual(seen.attempts, [begunAttempt(1, start + 5, alice)])
    }),
  )

  it(
    'a plan begins what it creates, where it is asked to: attempt and lease are durable with the effect (I5)',
    on(make, async (store, { reopen }) => {
      const begin = { worker: alice, leaseMs }
      const [first, other] = [{ ...newEffect(), begin }, newEffect()]
      await store.plan(planFor(await accepted(store), first, other))
      assert.deepEqual(await store.takeDue({ worker: bob, now: start + leaseMs - 1, leaseMs, slots: {} }), [])
      const seen = await effectOf(await reopen(), first.id)
      assert.deepEqual(
        { state: seen.state, version: seen.version, changedAt: seen.changedAt, dueAt: seen.dueAt },
        { state: 'attempting', version: 2, changedAt: start, dueAt: start + leaseMs },
      )
      assert.deepEqual(seen.attempts, [begunAttempt(1, start, alice)])
      assert.equal((await effectOf(store, other.id)).state, 'planned')
      const { effects } = await store.status()
      assert.deepEqual([effects.byState.planned, effects.byState.attempting], [1, 1])
      const settledAs = await store.settle(settlement({ effect: seen, attempt: 1 }, { to: 'confirmed' }))
      assert.deepEqual(settledAs, { kind: 'settled', version: 3 })
    }),
  )

  it(
    'one claim takes what is planned, what is unknown and what lost its lease, and begins only what is planned',
    on(make, async (store) => {
      const unknown = await unknownEffect(store)
      const lost = await begun(store)
      const again = await begun(store)
      await settled(store, settlement(again, { to: 'planned', dueAt: start + 1_000 }))
      const planned = await plannedEffect(store)
      const now = muchLater
      const taken = await store.takeDue({ worker: bob, now, leaseMs, slots: bank })
      const found = taken.map((work) => [
        work.effect.id,
        work.kind,
        work.effect.state,
        work.effect.version,
        work.effect.attempts.map(({ number, worker }) => [number, worker]),
      ])
      const both = [
        [1, alice],
        [2, bob],
      ]
      assert.deepEqual(
        new Set(found),
        new Set([
          [unknown.id, 'attention', 'unknown', 3, [[1, alice]]],
          [lost.effect.id, 'attention', 'attempting', 2, [[1, alice]]],
          [again.effect.id, 'attempt', 'attempting', 4, both],
          [planned.id, 'attempt', 'attempting', 2, [[1, bob]]],
        ]),
      )
      for (const { effect } of taken) assert.deepEqual(await effectOf(store, effect.id), effect)
    }),
  )

  it(
    'the lease of an attempt begun in its plan is kept alive and ends as any other',
    on(make, async (store) => {
      const effect = { ...newEffect(), begin: { worker: alice, leaseMs } }
      await store.plan(planFor(await accepted(store), effect))
      const take = (now: number) => store.takeDue({ worker: bob, now, leaseMs, slots: bank })
      await store.renew({ worker: alice, effects: [effect.id], now: start + leaseMs - 1, leaseMs })
      assert.deepEqual(await take(start + leaseMs), [])
      const [late] = await take(start + 2 * leaseMs)
      assert.equal(late?.kind, 'attention')
      assert.equal(late?.effect.state, 'attempting')
    }),
  )

  it(
    'a plan that finds its effect begins nothing: whoever has the effect goes on with it',
    on(make, async (store) => {
      const [one, two] = [await accepted(store), await accepted(store)]
      const effect = newEffect({ key: 'invoice/1' })
      await store.plan(planFor(one, effect))
      const again = { ...newEffect({ key: 'invoice/1' }), begin: { worker: alice, leaseMs } }
      const shared = await store.plan(planFor(two, again))
      assert.deepEqual(shared, { kind: 'planned', effects: [{ id: effect.id, created: false }] })
      const seen = await effectOf(store, effect.id)
      assert.deepEqual([seen.state, seen.version, seen.attempts], ['planned', 1, []])
    }),
  )

  it(
    'of many plans that create one effect at once, one begins it',
    on(make, async (store) => {
      const records = await Promise.all(Array.from({ length: 8 }, () => accepted(store)))
      const begin = { worker: alice, leaseMs }
      const planned = await Promise.all(
        records.map((record) => store.plan(planFor(record, { ...newEffect({ key: 'one' }), begin }))),
      )
      const created = planned.filter((one) => one.kind === 'planned' && one.effects[0]?.created)
      assert.equal(created.length, 1)
      const [story] = await store.showEffects('one')
      assert.equal(story?.effect.attempts.length, 1)
    }),
  )

  it(
    'an ordering domain that has many waiting does not hold up the others, nor what has no order',
    on(make, async (store) => {
      const record = await accepted(store)
      const many = Array.from({ length: 60 }, (_, version) => ordered('b/many', version))
      const few = ['a', 'c', 'd', 'e'].map((domain) => ordered(domain, 1))
      const free = newEffect()
      await store.plan(planFor(record, ...many))
      await store.plan({ ...planFor(await accepted(store), ...few, free), at: start })
      const taken: string[] = []
      for (let claims = 0; claims < 6; claims++) {
        const works = await store.takeDue({ worker: alice, now: start, leaseMs, slots: { bank: 4 } })
        assert.equal(works.length, 4)
        taken.push(...works.map(({ effect }) => effect.id))
      }
      assert.equal(new Set(taken).size, 24, 'each is taken once')
      for (const { id, order } of few) assert.ok(taken.includes(id), `${order.domain} had its turn`)
      let rest = 0
      for (;;) {
        const works = await store.takeDue({ worker: alice, now: start, leaseMs, slots: { bank: 16 } })
        rest += works.length
        if (works.length < 16) break
      }
      assert.equal(rest, 65 - 24, 'and nothing is left')
    }),
  )

  it(
    'a recipient with a single place serves domains and what has no order alike',
    on(make, async (store) => {
      const record = await accepted(store)
      const many = Array.from({ length: 12 }, (_, version) => ordered('many', version))
      const other = ordered('other', 1)
      const free = newEffect()
      await store.plan(planFor(record, free, ...many, other))
      const taken: string[] = []
      for (let claims = 0; claims < 10; claims++) {
        const works = await store.takeDue({ worker: alice, now: start, leaseMs, slots: { bank: 1 } })
        taken.push(...works.map(({ effect }) => effect.id))
      }
      assert.equal(taken.length, 10)
      assert.ok(taken.includes(other.id))
      assert.ok(taken.includes(free.id))
    }),
  )

  it(
    'no effect is taken before its time, without a slot, or beyond the slots',
    on(make, async (store) => {
      for (let i = 0; i < 4; i++) await plannedEffect(store)
      const take = (now: number, slots: Record<string, number>) =>
        store.takeDue({ worker: alice, now, leaseMs, slots })
      assert.equal((await take(start - 1, bank)).length, 0)
      assert.equal((await take(start, {})).length, 0)
      assert.equal((await take(start, { mail: 5, bank: 0 })).length, 0)
      assert.equal((await take(start, { bank: -1 })).length, 0)
      assert.equal((await take(start, { bank: 3 })).length, 3)
      assert.equal((await take(start, bank)).length, 1)
    }),
  )

  it(
    'each recipient has its own slots',
    on(make, async (store) => {
      for (let i = 0; i < 3; i++) {
        await plannedEffect(store, { recipient: 'bank' })
        await plannedEffect(store, { recipient: 'mail' })
      }
      const taken = await store.takeDue({ worker: alice, now: start, leaseMs, slots: { bank: 1, mail: 2 } })
      assert.deepEqual(taken.map(({ effect }) => effect.recipient).sort(), ['bank', 'mail', 'mail'])
    }),
  )

  it(
    'a lease that ended while attempting brings the effect up for attention, and begins nothing (C02)',
    on(make, async (store) => {
      const { effect } = await begun(store)
      assert.equal(
        (await store.takeDue({ worker: bob, now: start + leaseMs - 1, leaseMs, slots: bank })).length,
        0,
      )
      const [due] = await store.takeDue({ worker: bob, now: start + leaseMs, leaseMs, slots: bank })
      assert.equal(due?.kind, 'attention')
      assert.equal(due?.effect.state, 'attempting')
      assert.equal(due?.effect.version, effect.version)
      assert.equal(due?.effect.attempts.length, 1)
      assert.equal(due?.effect.dueAt, start + 2 * leaseMs)
    }),
  )

  it(
    'an unknown effect that is due comes up for attention',
    on(make, async (store) => {
      const { id } = await unknownEffect(store)
      const [due] = await store.takeDue({ worker: bob, now: start + 60_000, leaseMs, slots: bank })
      assert.equal(due?.kind, 'attention')
      assert.equal(due?.effect.id, id)
      assert.equal(due?.effect.state, 'unknown')
    }),
  )

  it(
    'what is final is never due',
    on(make, async (store) => {
      await settled(store, settlement(await begun(store), { to: 'confirmed' }))
      assert.deepEqual(await store.takeDue({ worker: alice, now: muchLater, leaseMs, slots: bank }), [])
    }),
  )

  it(
    'two handles that take at once never begin the same effect',
    on(make, async (store, { reopen }) => {
      const other = await reopen()
      for (let i = 0; i < 20; i++) await plannedEffect(store)
      const taken = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          (index % 2 === 0 ? store : other).takeDue({
            worker: index % 2 === 0 ? alice : bob,
            now: start,
            leaseMs,
            slots: { bank: 5 },
          }),
        ),
      )
      const ids = taken.flat().map(({ effect }) => effect.id)
      assert.equal(ids.length, 20)
      assert.equal(new Set(ids).size, 20)
      for (const { effect } of taken.flat()) assert.equal(effect.attempts.length, 1)
    }),
  )

  it(
    'a lease is renewed by the worker that holds it, while it attempts',
    on(make, async (store) => {
      const { effect } = await begun(store)
      await store.renew({ worker: bob, effects: [effect.id], now: start + 10_000, leaseMs })
      assert.equal((await effectOf(store, effect.id)).dueAt, start + leaseMs)
      await store.renew({ worker: alice, effects: [effect.id], now: start + 10_000, leaseMs })
      const renewed = await effectOf(store, effect.id)
      assert.equal(renewed.dueAt, start + 10_000 + leaseMs)
      assert.equal(renewed.version, effect.version)
      assert.equal(
        (await store.takeDue({ worker: bob, now: start + leaseMs, leaseMs, slots: bank })).length,
        0,
      )
    }),
  )

  it(
    'a lease that another worker took over is not renewed, nor is one of an effect that does not attempt',
    on(make, async (store) => {
      const { effect } = await begun(store)
      await store.takeDue({ worker: bob, now: start + leaseMs, leaseMs, slots: bank })
      await store.renew({ worker: alice, effects: [effect.id], now: start + leaseMs + 9_000, leaseMs })
      assert.equal((await effectOf(store, effect.id)).dueAt, start + 2 * leaseMs)
      const other = await unknownEffect(store)
      await store.takeDue({ worker: alice, now: start + 60_000, leaseMs, slots: bank })
      const before = (await effectOf(store, other.id)).dueAt
      await store.renew({ worker: alice, effects: [other.id], now: start + 70_000, leaseMs })
      assert.equal((await effectOf(store, other.id)).dueAt, before)
    }),
  )

  it(
    'an unknown effect is repeated with the next number and the same bytes, at the version it was decided on (I7)',
    on(make, async (store) => {
      const effect = await unknownEffect(store)
      const repeat = { effect: effect.id, worker: bob, now: start + 70_000, leaseMs }
      assert.equal(await store.beginRepeat({ ...repeat, expectedVersion: effect.version - 1 }), null)
      const work = await store.beginRepeat({ ...repeat, expectedVersion: effect.version })
      assert.equal(work?.attempt, 2)
      assert.equal(Buffer.from(work!.request.ciphertext).toString(), 'request pay')
      assert.equal(work?.effect.state, 'attempting')
      assert.equal(work?.effect.version, effect.version + 1)
      assert.equal(work?.effect.dueAt, start + 70_000 + leaseMs)
      assert.deepEqual(
        work?.effect.attempts.map(({ number, open, worker }) => ({ number, open, worker })),
        [
          { number: 1, open: true, worker: alice },
          { number: 2, open: true, worker: bob },
        ],
      )
    }),
  )

  it(
    'only an unknown effect is repeated, and of many deciders one',
    on(make, async (store, { reopen }) => {
      const repeat = { worker: bob, now: start + 70_000, leaseMs }
      const { id, version } = await plannedEffect(store, { at: muchLater })
      assert.equal(await store.beginRepeat({ ...repeat, effect: id, expectedVersion: version }), null)
      const work = await begun(store)
      assert.equal(
        await store.beginRepeat({ ...repeat, effect: work.effect.id, expectedVersion: work.effect.version }),
        null,
      )
      assert.equal(
        await store.beginRepeat({ ...repeat, effect: 'eff_none' as never, expectedVersion: 1 }),
        null,
      )
      const other = await reopen()
      const unknown = await unknownEffect(store)
      const begunBy = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          (index % 2 === 0 ? store : other).beginRepeat({
            ...repeat,
            effect: unknown.id,
            expectedVersion: unknown.version,
          }),
        ),
      )
      assert.equal(begunBy.filter((one) => one !== null).length, 1)
      assert.equal((await effectOf(store, unknown.id)).attempts.length, 2)
    }),
  )

  it(
    'an effect that is planned again is attempted again with the next number',
    on(make, async (store) => {
      const work = await begun(store)
      await settled(store, settlement(work, { to: 'planned', dueAt: start + 2_000, closeAttempts: true }))
      assert.equal(
        (await store.takeDue({ worker: alice, now: start + 1_999, leaseMs, slots: bank })).length,
        0,
      )
      const [again] = await store.takeDue({ worker: alice, now: start + 2_000, leaseMs, slots: bank })
      assert.ok(again?.kind === 'attempt')
      assert.equal(again.attempt, 2)
      assert.deepEqual(
        again.effect.attempts.map(({ outcome, open }) => ({ outcome, open })),
        [
          { outcome: 'notActed', open: false },
          { outcome: null, open: true },
        ],
      )
    }),
  )
}
