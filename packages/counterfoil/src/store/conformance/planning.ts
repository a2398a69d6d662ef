import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { TraceParent } from '../../domain/index.ts'
import {
  accepted,
  alertsOf,
  claim,
  effectOf,
  type MakeStore,
  muchLater,
  newEffect,
  on,
  planFor,
  start,
} from './given.ts'

/** Design decision 2. */
export function planning(make: MakeStore): void {
  it(
    'a plan consumes its record and creates its effects, with their cause',
    on(make, async (store) => {
      const record = await accepted(store)
      const trace = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' as TraceParent
      const effect = { ...newEffect(), trace, order: { domain: 'customer/9', version: 4 } }
      const planned = await store.plan(planFor(record, effect))
      assert.deepEqual(planned, { kind: 'planned', effects: [{ id: effect.id, created: true }] })
      const { receipt, effects } = (await store.showReceipt(record.receipt))!
      assert.equal(receipt.state, 'planned')
      assert.equal(receipt.plannedAt, start)
      assert.equal(receipt.plannedBy, 'config-1')
      assert.deepEqual(
        effects.map((one) => ({ ...one })),
        [{ id: effect.id, recipient: 'bank', key: effect.key, state: 'planned' }],
      )
      const [story] = await store.showEffects(effect.id)
      const { trigger, request, ...expected } = effect
      assert.deepEqual(story?.effect, {
        ...expected,
        state: 'planned',
        version: 1,
        disputed: false,
        escalated: false,
        changedAt: start,
        dueAt: start,
        attempts: [],
        evidence: [],
      })
      assert.deepEqual(
        story?.causes.map(({ receipt: of, trigger: by }) => ({ of, by })),
        [{ of: record.receipt, by: trigger }],
      )
      assert.ok(request)
    }),
  )

  it(
    'a plan may have no effect at all',
    on(make, async (store) => {
      const record = await accepted(store)
      assert.deepEqual(await store.plan(planFor(record)), { kind: 'planned', effects: [] })
      assert.equal((await store.showReceipt(record.receipt))?.receipt.state, 'planned')
    }),
  )

  it(
    'same key and fingerprint is the same effect with one more cause',
    on(make, async (store) => {
      const [one, two] = [await accepted(store), await accepted(store)]
      const effect = newEffect({ key: 'invoice/1' })
      await store.plan(planFor(one, effect))
      const shared = await store.plan(planFor(two, newEffect({ key: 'invoice/1' })))
      assert.deepEqual(shared, { kind: 'planned', effects: [{ id: effect.id, created: false }] })
      const [story, ...others] = await store.showEffects('invoice/1')
      assert.equal(others.length, 0)
      assert.deepEqual(
        new Set(story?.causes.map(({ receipt }) => receipt)),
        new Set([one.receipt, two.receipt]),
      )
      assert.equal(story?.effect.version, 1)
    }),
  )

  it(
    'a key that a plan names twice with one payload is one effect',
    on(make, async (store) => {
      const effect = newEffect({ key: 'invoice/1' })
      const planned = await store.plan(
        planFor(await accepted(store), effect, newEffect({ key: 'invoice/1' })),
      )
      assert.deepEqual(planned, {
        kind: 'planned',
        effects: [
          { id: effect.id, created: true },
          { id: effect.id, created: false },
        ],
      })
    }),
  )

  it(
    'the same key at another recipient is another effect',
    on(make, async (store) => {
      const planned = await store.plan(
        planFor(
          await accepted(store),
          newEffect({ key: 'invoice/1' }),
          newEffect({ key: 'invoice/1', recipient: 'mail', payload: 'other' }),
        ),
      )
      assert.equal(planned.kind === 'planned' && planned.effects.filter(({ created }) => created).length, 2)
      assert.equal((await store.showEffects('invoice/1')).length, 2)
    }),
  )

  it(
    'same key with another fingerprint rolls the whole plan back and quarantines its receipt with both (C10)',
    on(make, async (store) => {
      const existing = newEffect({ key: 'invoice/1', payload: 'one' })
      await store.plan(planFor(await accepted(store), existing))
      const record = await accepted(store)
      const other = newEffect({ key: 'invoice/1', payload: 'two' })
      const plan = planFor(record, newEffect({ key: 'before' }), other, newEffect({ key: 'after' }))
      assert.deepEqual(await store.plan(plan), {
        kind: 'conflict',
        recipient: 'bank',
        key: 'invoice/1',
        planned: other.fingerprint,
        existing: existing.fingerprint,
        quarantine: plan.onConflict.id,
      })
      assert.deepEqual([...(await store.showEffects('before')), ...(await store.showEffects('after'))], [])
      assert.equal((await effectOf(store, existing.id)).version, 1)
      const { receipt, quarantine } = (await store.showReceipt(record.receipt))!
      assert.equal(receipt.state, 'quarantined')
      assert.equal(quarantine?.reason, 'effect-conflict')
      const detail = JSON.stringify(quarantine?.detail)
      assert.ok(detail.includes(existing.fingerprint) && detail.includes(other.fingerprint))
      const waiting = await claim(store, muchLater)
      assert.deepEqual(
        alertsOf(waiting).map(({ alert }) => alert.quarantine),
        [plan.onConflict.id],
      )
      assert.equal(waiting.length, 1)
    }),
  )

  it(
    'a plan that contradicts itself is a conflict too',
    on(make, async (store) => {
      const plan = planFor(
        await accepted(store),
        newEffect({ key: 'k', payload: 'one' }),
        newEffect({ key: 'k', payload: 'two' }),
      )
      assert.equal((await store.plan(plan)).kind, 'conflict')
      assert.deepEqual(await store.showEffects('k'), [])
    }),
  )

  it(
    'a record that was consumed is planned no second time, not even as a conflict',
    on(make, async (store) => {
      const record = await accepted(store)
      await store.plan(planFor(record, newEffect({ key: 'k', payload: 'one' })))
      assert.deepEqual(await store.plan(planFor(record, newEffect({ key: 'late' }))), { kind: 'consumed' })
      assert.deepEqual(await store.plan(planFor(record, newEffect({ key: 'k', payload: 'two' }))), {
        kind: 'consumed',
      })
      assert.deepEqual(await store.showEffects('late'), [])
      assert.deepEqual((await store.listQuarantine({ limit: 10 })).entries, [])
    }),
  )

  it(
    'a record is consumed only for the receipt that it belongs to',
    on(make, async (store) => {
      const [one, two] = [await accepted(store), await accepted(store)]
      assert.deepEqual(await store.plan(planFor({ outbox: one.outbox, receipt: two.receipt }, newEffect())), {
        kind: 'consumed',
      })
      assert.equal((await claim(store)).length, 2)
    }),
  )

  it(
    'concurrent plans of one record: one plans, the others find it consumed',
    on(make, async (store, { reopen }) => {
      const other = await reopen()
      const record = await accepted(store)
      const results = await Promise.all(
        Array.from({ length: 16 }, (_, index) =>
          (index % 2 === 0 ? store : other).plan(planFor(record, newEffect({ key: 'k' }))),
        ),
      )
      assert.equal(results.filter(({ kind }) => kind === 'planned').length, 1)
      assert.equal(results.filter(({ kind }) => kind === 'consumed').length, 15)
    }),
  )

  it(
    'concurrent plans of one effect through two handles share one row',
    on(make, async (store, { reopen }) => {
      const other = await reopen()
      const records = await Promise.all(Array.from({ length: 32 }, () => accepted(store)))
      const results = await Promise.all(
        records.map((record, index) =>
          (index % 2 === 0 ? store : other).plan(planFor(record, newEffect({ key: 'k' }))),
        ),
      )
      const effects = results.flatMap((planned) => (planned.kind === 'planned' ? planned.effects : []))
      assert.equal(effects.length, 32)
      assert.equal(effects.filter(({ created }) => created).length, 1)
      assert.equal(new Set(effects.map(({ id }) => id)).size, 1)
      const [story] = await other.showEffects('k')
      assert.equal(story?.causes.length, 32)
    }),
  )

  it(
    'of plans of one moment each is answered for what it is: new, known, in conflict, consumed, of two effects, of none',
    on(make, async (store) => {
      const known = newEffect({ key: 'known', payload: 'as it was' })
      await store.plan(planFor(await accepted(store), known))
      const record = async () => await accepted(store)
      const consumed = await record()
      await store.plan(planFor(consumed, newEffect({ key: 'first' })))
      const answers = await Promise.all(
        [
          planFor(await record(), newEffect({ key: 'new' })),
          planFor(await record(), newEffect({ key: 'known', payload: 'as it was' })),
          planFor(await record(), newEffect({ key: 'known', payload: 'another' })),
          planFor(consumed, newEffect({ key: 'never planned' })),
          planFor(await record(), newEffect({ key: 'one of two' }), newEffect({ key: 'the other' })),
          planFor(await record()),
          planFor(await record(), newEffect({ key: 'new too' })),
        ].map((plan) => store.plan(plan)),
      )
      const created = (planned: (typeof answers)[number]) =>
        planned.kind === 'planned' ? planned.effects.map((effect) => effect.created) : planned.kind
      assert.deepEqual(answers.map(created), [
        [true],
        [false],
        'conflict',
        'consumed',
        [true, true],
        [],
        [true],
      ])
      assert.equal((await store.showEffects('known'))[0]?.causes.length, 2)
      assert.equal((await store.showEffects('new'))[0]?.causes.length, 1)
      assert.deepEqual(await store.showEffects('never planned'), [])
      const { outbox, effects } = await store.status()
      assert.deepEqual([outbox.waiting, effects.total], [1, 6], 'the alert of the conflict waits')
    }),
  )
}
