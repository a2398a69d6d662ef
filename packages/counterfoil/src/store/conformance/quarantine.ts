import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { QuarantineId } from '../../domain/index.ts'
import type { QuarantineView } from '../records.ts'
import type { QuarantineDecision, QuarantineMove, QuarantineQuery, Store } from '../store.ts'
import {
  accepted,
  alertsOf,
  claim,
  delivery,
  type MakeStore,
  muchLater,
  newAudit,
  newEffect,
  on,
  planFor,
  plansOf,
  quarantine,
  rejects,
  start,
  unfit,
} from './given.ts'

/** What waits for an operator, and what his decisions do. */
export function quarantined(make: MakeStore): void {
  it(
    'entries are listed newest first and oldest first, page by page',
    on(make, async (store) => {
      const ids: QuarantineId[] = []
      for (let i = 0; i < 5; i++) ids.unshift((await entered(store)).id)
      assert.deepEqual(await walk(store, { limit: 2 }), ids)
      assert.deepEqual(await walk(store, { limit: 2, after: '' }), [...ids].reverse())
      const { next } = await store.listQuarantine({ limit: 5, before: ids[2]! })
      assert.equal(next, null)
      const until = await walk(store, { limit: 2, after: '', through: ids[1]! })
      assert.deepEqual(until, [...ids].reverse().slice(0, 4))
    }),
  )

  it(
    'an entry is shown with its reason, its event and whom it belongs to',
    on(make, async (store) => {
      const given = unfit('schema-failure', { event: 'evt_9', producer: 'adyen' })
      await store.accept(given)
      const [entry] = (await store.listQuarantine({ limit: 1 })).entries
      assert.ok(entry && given.next.kind === 'quarantine')
      const { vault, ...rest } = entry
      assert.equal(typeof vault, 'string')
      assert.deepEqual(rest, {
        id: given.next.quarantine.id,
        receipt: given.receipt.id,
        reason: 'schema-failure',
        detail: { fault: 'as stated' },
        owner: 'billing',
        at: start,
        producer: 'adyen',
        type: 'invoice.paid',
        eventId: 'evt_9',
        state: 'waiting',
        version: 1,
        assignee: null,
        attendedAt: start,
        changedAfter: 0,
      })
      assert.deepEqual(await store.showQuarantine(entry.id), { entry, notes: [] })
      assert.equal(await store.showQuarantine('qua_none'), null)
    }),
  )

  it(
    'each filter finds its own, alone and together, in both directions',
    on(make, async (store) => {
      const one = await entered(store, { producer: 'adyen', type: 'refund', event: 'evt_refund_1' })
      const two = await entered(store, { type: 'refund', at: start + 10 }, 'schema-failure')
      const three = await entered(store, { at: start + 20 }, 'not-representable')
      await decide(store, one, { to: 'assigned', assignee: 'dana' })
      await decide(store, three, { to: 'dismissed' })
      const found = async (query: Partial<QuarantineQuery>) => {
        const down = await walk(store, { limit: 2, ...query })
        assert.deepEqual(await walk(store, { limit: 2, after: '', ...query }), [...down].reverse())
        return down
      }
      assert.deepEqual(await found({ state: 'waiting' }), [two.id, one.id])
      assert.deepEqual(await found({ state: 'dismissed' }), [three.id])
      assert.deepEqual(await found({ state: 'dismissed', producer: 'adyen' }), [])
      for (const state of [{}, { state: 'waiting' as const }]) {
        assert.deepEqual(await found({ ...state, producer: 'adyen' }), [one.id])
        assert.deepEqual(await found({ ...state, type: 'refund' }), [two.id, one.id])
        assert.deepEqual(await found({ ...state, type: 'refund', producer: 'stripe' }), [two.id])
        assert.deepEqual(await found({ ...state, reason: 'schema-failure' }), [two.id])
        assert.deepEqual(await found({ ...state, assignee: 'dana' }), [one.id])
        assert.deepEqual(await found({ ...state, assignee: null, type: 'refund' }), [two.id])
        assert.deepEqual(await found({ ...state, owner: 'nobody' }), [])
        assert.deepEqual(await found({ ...state, owner: 'billing', until: start }), [one.id])
        assert.deepEqual(await found({ ...state, event: 'refund_1' }), [one.id])
        // Text, not a pattern.
        assert.deepEqual(await found({ ...state, event: 'evt%' }), [])
      }
    }),
  )

  it(
    'a released receipt is accepted again with one outbox record, and can be planned',
    on(make, async (store) => {
      const entry = await entered(store)
      await drainAlerts(store)
      const decided = await decide(store, entry, { to: 'released' })
      assert.deepEqual(decided, {
        kind: 'decided',
        results: [{ id: entry.id, outcome: 'released', version: 2 }],
        repeated: false,
      })
      assert.equal((await store.showReceipt(entry.receipt))?.receipt.state, 'accepted')
      assert.equal((await shown(store, entry)).state, 'released')
      const [record, ...others] = plansOf(await claim(store, start + 1))
      assert.ok(record && others.length === 0)
      assert.equal(record.receipt.id, entry.receipt)
      const planned = await store.plan(
        planFor({ outbox: record.outbox, receipt: entry.receipt }, newEffect()),
      )
      assert.equal(planned.kind, 'planned')
      const { receipt, quarantine: kept } = (await store.showReceipt(entry.receipt))!
      assert.deepEqual([receipt.state, kept?.state], ['planned', 'released'])
      assert.deepEqual(await store.listReceipts({ limit: 5, state: 'quarantined' }), [])
      const { quarantine: waiting, receipts } = await store.status()
      assert.deepEqual([waiting, receipts.byState], [0, { accepted: 0, planned: 1, quarantined: 0 }])
    }),
  )

  it(
    'a store that calls back tells of what a decision releases, until it is asked no more',
    on(make, async (store) => {
      if (store.watch === undefined) return
      const entry = await entered(store)
      let hints = 0
      const told = new Promise<void>((resolve) => {
        const unwatch = store.watch!(() => {
          hints++
          unwatch()
          resolve()
        })
      })
      await decide(store, entry, { to: 'released' })
      await told
      await decide(store, await entered(store), { to: 'released' })
      assert.equal(hints, 1)
    }),
  )

  it(
    'a dismissed entry leaves its receipt in quarantine, and nothing moves it any more',
    on(make, async (store) => {
      const entry = await entered(store)
      await drainAlerts(store)
      await decide(store, entry, { to: 'dismissed' })
      const dismissed = await shown(store, entry)
      assert.deepEqual([dismissed.state, dismissed.version], ['dismissed', 2])
      const answer = await decide(store, dismissed, { to: 'released' })
      assert.deepEqual(answer, {
        kind: 'refused',
        results: [{ id: entry.id, outcome: 'settled', version: 2 }],
      })
      assert.equal((await store.showReceipt(entry.receipt))?.receipt.state, 'quarantined')
      assert.equal((await store.listReceipts({ limit: 5, state: 'quarantined' })).length, 1)
      assert.equal((await claim(store, muchLater)).length, 0)
      assert.equal((await store.status()).quarantine, 0)
    }),
  )

  it(
    'what still cannot start work stays, with a note of the new fault and the reason of before',
    on(make, async (store) => {
      const entry = await entered(store)
      const detail = { faults: [{ path: '/amount', message: 'is missing' }] }
      await decide(store, entry, { to: 'kept', reason: 'schema-failure', detail }, { at: start + 9 })
      const story = (await store.showQuarantine(entry.id))!
      assert.deepEqual([story.entry.state, story.entry.reason], ['waiting', 'unsupported-type'])
      assert.deepEqual(story.notes, [{ at: start + 9, reason: 'schema-failure', detail, by: 'dana' }])
      assert.equal(story.entry.attendedAt, start + 9)
    }),
  )

  it(
    'a released receipt whose plan fails comes back to its entry, with a note and another alert',
    on(make, async (store) => {
      const entry = await entered(store)
      await drainAlerts(store)
      await decide(store, entry, { to: 'released' })
      const [record] = plansOf(await claim(store, start + 1))
      const failed = { ...quarantine('plan-failed'), owner: 'somebody else' }
      await store.quarantinePlan({
        outbox: record!.outbox,
        receipt: entry.receipt,
        quarantine: failed,
        at: start + 5,
      })
      const story = (await store.showQuarantine(entry.id))!
      const { reason, state, version, owner } = story.entry
      assert.deepEqual([reason, state, version, owner], ['unsupported-type', 'waiting', 3, 'billing'])
      assert.deepEqual(story.notes, [
        { at: start + 5, reason: 'plan-failed', detail: failed.detail, by: 'engine' },
      ])
      const [alert] = alertsOf(await claim(store, start + 5))
      assert.deepEqual(
        [alert?.alert.quarantine, alert?.alert.reason, alert?.alert.occasion, alert?.alert.owner],
        [entry.id, 'plan-failed', 'returned/3', 'billing'],
      )
      assert.equal((await store.status()).quarantine, 1)
      // And so does one whose plan is in conflict.
      await decide(store, story.entry, { to: 'released' })
      const first = await accepted(store)
      await store.plan(planFor(first, newEffect({ key: 'k', payload: 'one' })))
      const [again] = plansOf(await claim(store, start + 6))
      const plan = planFor(
        { outbox: again!.outbox, receipt: entry.receipt },
        newEffect({ key: 'k', payload: 'two' }),
      )
      const conflict = await store.plan(plan)
      assert.equal(conflict.kind === 'conflict' && conflict.quarantine, entry.id)
      assert.deepEqual(
        (await store.showQuarantine(entry.id))?.notes.map((note) => note.reason),
        ['plan-failed', 'effect-conflict'],
      )
    }),
  )

  it(
    'a decision on an outdated view is refused and leaves no audit row',
    on(make, async (store) => {
      const entry = await entered(store)
      await decide(store, entry, { to: 'assigned', assignee: 'dana' })
      const answer = await decide(store, entry, { to: 'released' })
      assert.deepEqual(answer, {
        kind: 'refused',
        results: [{ id: entry.id, outcome: 'stale', version: 2 }],
      })
      assert.equal((await store.listAudit({ limit: 10 })).length, 1)
      assert.equal((await shown(store, entry)).assignee, 'dana')
    }),
  )

  it(
    'the same decision again changes nothing and answers the same; another one under its id is told so',
    on(make, async (store) => {
      const entry = await entered(store)
      await drainAlerts(store)
      const about = { decision: 'd-1' }
      const first = await decide(store, entry, { to: 'released' }, about)
      const again = await decide(store, entry, { to: 'released' }, { ...about, at: start + 99 })
      assert.deepEqual(again, { ...first, repeated: true })
      assert.equal(plansOf(await claim(store, start + 1)).length, 1)
      const other = await decide(store, entry, { to: 'dismissed' }, { ...about, act: 'quarantine.dismiss' })
      assert.equal(other.kind === 'other' && other.existing.decision, 'd-1')
      assert.equal((await store.listAudit({ limit: 10 })).length, 1)
    }),
  )

  it(
    'of many entries in one decision those move that can, and each one’s result is told',
    on(make, async (store) => {
      const [one, two, three] = [await entered(store), await entered(store), await entered(store)]
      await decide(store, two, { to: 'dismissed' })
      await decide(store, three, { to: 'assigned', assignee: 'dana' })
      const absent = { ...one, id: 'qua_none' as QuarantineId }
      const decided = await store.decideQuarantine({
        audit: newAudit({ decision: 'many/000001' }),
        entries: [one, two, three, absent].map((entry) => ({
          id: entry.id,
          expectedVersion: 1,
          move: { to: 'released' },
        })),
        whole: false,
      })
      assert.deepEqual(
        decided.kind === 'decided' && decided.results.map(({ outcome, version }) => [outcome, version]),
        [
          ['released', 2],
          ['settled', 2],
          ['stale', 2],
          ['absent', 0],
        ],
      )
      assert.deepEqual((await store.listAudit({ limit: 1 }))[0]?.result, {
        results: decided.kind === 'decided' ? decided.results : [],
      })
    }),
  )

  it(
    'two operators who decide at once on one view: one decision holds',
    on(make, async (store, { reopen }) => {
      const other = await reopen()
      for (let round = 0; round < 10; round++) {
        const entry = await entered(store)
        const answers = await Promise.all([
          decide(store, entry, { to: 'released' }),
          decide(other, entry, { to: 'dismissed' }),
        ])
        assert.deepEqual(answers.map(({ kind }) => kind).sort(), ['decided', 'refused'])
      }
    }),
  )

  it(
    'what changed since an audit row names that row or a later one',
    on(make, async (store) => {
      const [one, two] = [await entered(store), await entered(store)]
      await decide(store, one, { to: 'released' })
      const answer = await store.audit({ ...newAudit({ decision: 'mark' }), result: {} })
      const mark = answer.kind === 'audited' ? answer.record.number : 0
      assert.ok((await shown(store, one)).changedAfter < mark)
      const [record] = plansOf(await claim(store, start + 1))
      await store.quarantinePlan({
        outbox: record!.outbox,
        receipt: one.receipt,
        quarantine: quarantine('plan-failed'),
        at: start,
      })
      await decide(store, two, { to: 'assigned', assignee: 'dana' })
      assert.ok((await shown(store, one)).changedAfter >= mark)
      assert.ok((await shown(store, two)).changedAfter >= mark)
    }),
  )

  it(
    'a copy of a delivery that was released is a plain duplicate, and one of a waiting or dismissed entry is in quarantine',
    on(make, async (store) => {
      const outcomes = []
      for (const to of ['released', 'dismissed', 'kept'] as const) {
        const event = `evt_${to}`
        const entry = await entered(store, { event })
        await decide(store, entry, { to, reason: 'schema-failure', detail: {} } as QuarantineMove)
        outcomes.push((await store.accept(delivery({ event }))).outcome)
      }
      assert.deepEqual(outcomes, ['duplicate', 'quarantined', 'quarantined'])
    }),
  )

  it(
    'entries that nobody attends to raise an alert, and again when they are old once more',
    on(make, async (store) => {
      const [old, assigned, done] = [await entered(store), await entered(store), await entered(store)]
      const young = await entered(store, { at: start + 1_000 })
      await decide(store, assigned, { to: 'assigned', assignee: 'dana' })
      await decide(store, done, { to: 'dismissed' })
      await drainAlerts(store)
      const raise = (now: number, limit = 10) =>
        store.alertUnattended({ now, since: now - 5_000, owner: 'head', limit })
      assert.equal(await raise(start + 4_999), 0)
      assert.equal(await raise(start + 5_000), 1)
      assert.equal(await raise(start + 5_000), 0)
      const [alert, ...others] = alertsOf(await claim(store, start + 5_000))
      assert.equal(others.length, 0)
      assert.deepEqual(alert?.alert, {
        reason: 'unattended',
        owner: 'head',
        receipt: old.receipt,
        quarantine: old.id,
        effect: null,
        occasion: `unattended/${start + 5_000}`,
        at: start + 5_000,
      })
      assert.equal((await shown(store, old)).version, 1)
      assert.equal(await raise(start + 10_000, 1), 1)
      assert.equal(await raise(start + 10_000, 1), 1)
      assert.equal(await raise(start + 10_000, 1), 0)
      assert.equal((await shown(store, young)).attendedAt, start + 10_000)
    }),
  )

  it(
    'a delivery from beyond retention can be kept in quarantine',
    on(make, async (store) => {
      const entry = await entered(store, {}, 'beyond-retention')
      assert.equal((await shown(store, entry)).reason, 'beyond-retention')
    }),
  )

  it(
    'an alert becomes an effect once, caused by the receipt that it is about',
    on(make, async (store) => {
      const entry = await entered(store)
      const [alert] = alertsOf(await claim(store))
      const { outbox } = alert!
      const effect = newEffect({ key: `alert/quarantine/${entry.id}/raised`, recipient: 'chat' })
      const plan = { outbox, at: start, effect }
      assert.deepEqual(await store.planAlert(plan), { kind: 'planned', created: true })
      assert.deepEqual(await store.planAlert(plan), { kind: 'consumed' })
      const [story] = await store.showEffects(effect.id)
      assert.deepEqual(
        [story?.effect.state, story?.causes.map(({ receipt }) => receipt)],
        ['planned', [entry.receipt]],
      )
      assert.equal((await claim(store, muchLater)).length, 0)
      assert.equal((await store.status()).outbox.waiting, 0)
    }),
  )

  it(
    'an alert about an effect has the causes of that effect; another payload under its key writes nothing',
    on(make, async (store) => {
      const work = await begunEffect(store)
      const [alert] = alertsOf(await claim(store))
      assert.equal(alert?.alert.occasion, `version/${work.version}`)
      const { outbox } = alert!
      const effect = newEffect({ key: 'alert/effect/x', recipient: 'chat' })
      assert.deepEqual(await store.planAlert({ outbox, at: start, effect }), {
        kind: 'planned',
        created: true,
      })
      const [story] = await store.showEffects(effect.id)
      assert.deepEqual(
        story?.causes.map(({ receipt }) => receipt),
        [work.receipt],
      )
      await entered(store)
      const [second] = alertsOf(await claim(store, start + 1))
      const other = newEffect({ key: 'alert/effect/x', recipient: 'chat', payload: 'other' })
      const answer = await store.planAlert({ outbox: second!.outbox, at: start, effect: other })
      assert.deepEqual(answer, { kind: 'conflict', existing: effect.fingerprint })
      assert.equal((await claim(store, muchLater)).filter(({ kind }) => kind === 'alert').length, 1)
    }),
  )

  it(
    'a decision that cannot be written writes nothing, neither moves nor audit row',
    on(make, async (store) => {
      const entry = await entered(store)
      const audit = { ...newAudit(), role: 'nobody' as never }
      const entries = [{ id: entry.id, expectedVersion: 1, move: { to: 'released' as const } }]
      await rejects(store.decideQuarantine({ audit, entries, whole: true }))
      assert.equal((await shown(store, entry)).state, 'waiting')
      assert.deepEqual(await store.listAudit({ limit: 5 }), [])
    }),
  )
}

async function entered(
  store: Store,
  options: Parameters<typeof unfit>[1] = {},
  reason: Parameters<typeof unfit>[0] = 'unsupported-type',
): Promise<QuarantineView> {
  const given = unfit(reason, options)
  const answer = await store.accept(given)
  assert.equal(answer.outcome, 'quarantined')
  return await shown(store, { id: (answer as { quarantine: QuarantineId }).quarantine })
}

async function shown(store: Store, { id }: { readonly id: QuarantineId }): Promise<QuarantineView> {
  const story = await store.showQuarantine(id)
  assert.ok(story, `there is no entry ${id}`)
  return story.entry
}

function decide(
  store: Store,
  entry: QuarantineView,
  move: QuarantineMove,
  about: Partial<QuarantineDecision['audit']> = {},
) {
  return store.decideQuarantine({
    audit: newAudit({ subject: entry.id, ...about }),
    entries: [{ id: entry.id, expectedVersion: entry.version, move }],
    whole: true,
  })
}

/** Every page of a query, one after the other. */
async function walk(store: Store, query: QuarantineQuery): Promise<QuarantineId[]> {
  const ids: QuarantineId[] = []
  let place: Pick<QuarantineQuery, 'before' | 'after'> = {}
  for (;;) {
    const { entries, next } = await store.listQuarantine({ ...query, ...place })
    ids.push(...entries.map(({ id }) => id))
    if (next === null) return ids
    place = query.after === undefined ? { before: next } : { after: next }
  }
}

async function drainAlerts(store: Store): Promise<void> {
  for (const { outbox } of alertsOf(await claim(store, muchLater))) await store.consumeAlert(outbox)
}

/** An effect that has raised an alert, with the receipt that caused it. */
async function begunEffect(store: Store) {
  const answer = await accepted(store)
  const effect = newEffect()
  await store.plan(planFor(answer, effect))
  const settled = await store.settle({
    effect: effect.id,
    expectedVersion: 1,
    at: start,
    to: 'planned',
    disputed: true,
    escalated: false,
    dueAt: null,
    closeAttempts: false,
    alert: { reason: 'disputed', owner: 'billing' },
  })
  return { receipt: answer.receipt, version: settled.kind === 'settled' ? settled.version : 0 }
}
