import assert from 'node:assert/strict'
import { createSecretKey, randomBytes } from 'node:crypto'
import { it } from 'node:test'
import { type Instant, type ReceiptId, type RetentionStep, retentionSteps } from '../../domain/index.ts'
import { BeyondRetention } from '../beyond.ts'
import { KeyRing } from '../key-ring.ts'
import type { Acceptance, Accepted, Forgotten, Store } from '../store.ts'
import { Vault } from '../vault.ts'
import {
  accepted,
  begun,
  claim,
  delivery,
  effectOf,
  type MakeStore,
  newAudit,
  newEffect,
  on,
  planFor,
  plannedEffect,
  rejects,
  settled,
  settlement,
  start,
  unfit,
  unknownEffect,
} from './given.ts'

const day = 86_400_000
/** Long after all that the tests write. */
const later = start + 400 * day

/** What may go goes, in order and in batches; what is left of it still tells the same event and effect again. */
export function retaining(make: MakeStore): void {
  it(
    'payloads and requests go first, and everything else is told as before',
    forgetting(make, async (store) => {
      const { receipt, effect } = await done(store, { event: 'evt_1' })
      const before = await store.showReceipt(receipt)
      assert.deepEqual(await forget(store, 'payloads'), { payloads: 1 })
      assert.deepEqual(await forget(store, 'requests'), { requests: 1 })
      assert.equal(await store.readVault(before!.receipt.vault), null)
      assert.deepEqual(await store.showReceipt(receipt), before)
      assert.equal((await effectOf(store, effect)).state, 'confirmed')
      assert.equal((await store.accept(delivery({ event: 'evt_1' }))).outcome, 'duplicate')
    }),
  )

  it(
    'what is not done with stays: waiting, planned, unknown, disputed, in quarantine',
    forgetting(make, async (store) => {
      await accepted(store)
      await plannedEffect(store)
      await unknownEffect(store)
      await store.accept(unfit('schema-failure'))
      const { effect } = await done(store)
      const { version } = await effectOf(store, effect)
      const dispute = {
        effect,
        expectedVersion: version,
        at: start,
        to: 'confirmed',
        disputed: true,
      } as const
      await settled(store, { ...dispute, escalated: false, dueAt: null, closeAttempts: false })
      const before = await store.status()
      assert.deepEqual(await forget(store, ...retentionSteps), {})
      assert.deepEqual(await store.status(), before)
    }),
  )

  it(
    'nothing goes before its time, which begins when all is done with',
    forgetting(make, async (store) => {
      await done(store, { event: 'evt_1', at: start })
      await newest(store)
      assert.deepEqual(await forgetUntil(store, start + 999, ...retentionSteps), {})
      assert.deepEqual(await forgetUntil(store, start + 1_000, 'receipts', 'effects'), {
        receipts: 1,
        effects: 1,
      })
    }),
  )

  it(
    'an event whose receipt became a marker is a duplicate of it; with another content a conflict beside it',
    forgetting(make, async (store) => {
      const { receipt } = await done(store, { event: 'evt_1', body: 'as it was' })
      await newest(store)
      assert.deepEqual(await forget(store, 'receipts'), { receipts: 1 })
      assert.equal(await store.showReceipt(receipt), null)

      const again = await store.accept(delivery({ event: 'evt_1', body: 'as it was' }))
      assert.deepEqual(again, { outcome: 'duplicate', receipt })
      const other = delivery({ event: 'evt_1', body: 'another' })
      const conflict = conflictOf(await store.accept(other))
      assert.deepEqual([conflict.first, conflict.repeated], [receipt, false])
      assert.equal(
        conflictOf(await store.accept(delivery({ event: 'evt_1', body: 'another' }))).repeated,
        true,
      )
      const story = await store.showReceipt(other.receipt.id)
      assert.equal(story?.receipt.conflictsWith, receipt)
      assert.deepEqual(story?.quarantine?.detail, {
        first: receipt,
        firstFingerprint: null,
        fingerprint: other.receipt.fingerprint,
      })
      assert.equal((await store.status()).receipts.duplicates, 2)
    }),
  )

  it(
    'copies that come together, and in one transaction, are known by the marker too',
    forgetting(make, async (store) => {
      const { receipt } = await done(store, { event: 'evt_1' })
      await newest(store)
      await forget(store, 'receipts')
      const copies = () => [
        delivery({ event: 'evt_1' }),
        delivery({ event: 'evt_1' }),
        delivery({ event: 'new' }),
      ]
      const outcomes = (answers: readonly Accepted[]) => answers.map(({ outcome }) => outcome)
      assert.deepEqual(outcomes(await store.acceptAll(copies())), ['duplicate', 'duplicate', 'accepted'])
      const apart = await Promise.all(copies().map((copy) => store.accept(copy)))
      assert.deepEqual(outcomes(apart), ['duplicate', 'duplicate', 'duplicate'])
      assert.equal(apart[0]?.receipt, receipt)
    }),
  )

  it(
    'an effect that is planned again under a key that became a marker is the same effect, never a second one',
    forgetting(make, async (store) => {
      const { effect } = await done(store, { key: 'order/1', payload: 'ten' })
      await newest(store)
      assert.deepEqual(await forget(store, 'effects'), { effects: 1 })
      assert.deepEqual(await store.showEffects('order/1'), [])

      const receipt = await accepted(store)
      const planned = await store.plan(
        planFor(receipt, newEffect({ key: 'order/1', payload: 'ten' }), newEffect({ key: 'order/2' })),
      )
      assert.equal(planned.kind, 'planned')
      assert.deepEqual(planned.kind === 'planned' && planned.effects[0], { id: effect, created: false })
      assert.equal(planned.kind === 'planned' && planned.effects[1]?.created, true)
      assert.deepEqual(await store.showEffects('order/1'), [])
      const { effects } = (await store.showReceipt(receipt.receipt))!
      assert.deepEqual(
        effects.map(({ key }) => key),
        ['order/2'],
      )
    }),
  )

  it(
    'with another payload it is a conflict, and nothing of the plan is written',
    forgetting(make, async (store) => {
      await done(store, { key: 'order/1', payload: 'ten' })
      await newest(store)
      await forget(store, 'effects')
      const receipt = await accepted(store)
      const wrong = newEffect({ key: 'order/1', payload: 'twenty' })
      const planned = await store.plan(planFor(receipt, newEffect({ key: 'order/2' }), wrong))
      assert.equal(planned.kind, 'conflict')
      assert.equal(planned.kind === 'conflict' && planned.existing, null)
      assert.deepEqual(await store.showEffects('order/2'), [])
      const story = await store.showReceipt(receipt.receipt)
      assert.equal(story?.quarantine?.reason, 'effect-conflict')
      assert.deepEqual(story?.quarantine?.detail, {
        recipient: 'bank',
        key: 'order/1',
        planned: wrong.fingerprint,
        existing: null,
      })
    }),
  )

  it(
    'a plan in a transaction of its own sees markers as well',
    forgetting(make, async (store) => {
      const { effect } = await done(store, { key: 'order/1', payload: 'ten' })
      await newest(store)
      await forget(store, 'effects')
      const receipt = await accepted(store)
      const session = await store.beginPlan({ timeoutMs: 10_000 })
      const planned = await session.commit(planFor(receipt, newEffect({ key: 'order/1', payload: 'ten' })))
      assert.deepEqual(planned.kind === 'planned' && planned.effects, [{ id: effect, created: false }])
    }),
  )

  it(
    'an alert whose effect became a marker is consumed without a second effect',
    forgetting(make, async (store) => {
      await done(store, { key: 'alert/1', payload: 'tell' })
      await newest(store)
      await forget(store, 'effects')
      await store.accept(unfit('schema-failure'))
      const alert = (await claim(store)).find(({ kind }) => kind === 'alert')!
      const plan = (payload: string) =>
        store.planAlert({ outbox: alert.outbox, at: start, effect: newEffect({ key: 'alert/1', payload }) })
      assert.deepEqual(await plan('another'), { kind: 'conflict', existing: null })
      assert.deepEqual(await plan('tell'), { kind: 'planned', created: false })
      assert.deepEqual(await plan('tell'), { kind: 'consumed' })
    }),
  )

  it(
    'a dry run counts what a run takes; a run takes it in batches, and again nothing',
    forgetting(make, async (store) => {
      for (let index = 0; index < 7; index++)
        await done(store, { event: `evt_${index}`, key: `key/${index}` })
      await newest(store)
      for (const step of ['payloads', 'requests', 'receipts', 'effects'] as const) {
        const dry = await walk(store, { step, until: later, limit: 3, dryRun: true })
        const run = await walk(store, { step, until: later, limit: 3 })
        assert.deepEqual([dry.count, dry.bytes], [run.count, run.bytes], step)
        assert.ok(run.count >= 7 && run.bytes > 0 && run.batches >= 3, `${step}: ${JSON.stringify(run)}`)
        assert.equal((await walk(store, { step, until: later, limit: 3 })).count, 0, step)
      }
      const { markers } = await store.retention()
      assert.deepEqual(markers, { receipts: 7, effects: 7 })
      const { receipts, effects } = await store.status()
      const listed = await store.listReceipts({ limit: 100 })
      assert.deepEqual(
        [receipts.total, effects.total],
        [listed.length, (await store.listEffects({ limit: 100 })).length],
      )
    }),
  )

  it(
    'no number is given twice, so what refers to a forgotten receipt refers to no other',
    forgetting(make, async (store) => {
      const { receipt } = await done(store, { event: 'evt_1' })
      await newest(store)
      await forget(store, 'receipts', 'effects')
      const conflict = delivery({ event: 'evt_1', body: 'another' })
      await store.accept(conflict)
      for (let index = 0; index < 3; index++) await accepted(store)
      assert.equal((await store.showReceipt(conflict.receipt.id))?.receipt.conflictsWith, receipt)
    }),
  )

  it(
    'a first receipt stays while a conflict beside it waits, and goes when both are done with',
    forgetting(make, async (store) => {
      await done(store, { event: 'evt_1' })
      const beside = conflictOf(await store.accept(delivery({ event: 'evt_1', body: 'another' })))
      await newest(store)
      assert.deepEqual(await forget(store, 'receipts'), {})
      const entries = [{ id: beside.quarantine, expectedVersion: 1, move: { to: 'dismissed' } as const }]
      await store.decideQuarantine({ audit: newAudit(), entries, whole: true })
      assert.deepEqual(await forget(store, 'receipts'), { receipts: 1 })
      assert.deepEqual(await forget(store, 'receipts'), { receipts: 1 })
      assert.deepEqual((await store.retention()).markers.receipts, 1)
      const { outcome } = await store.accept(delivery({ event: 'evt_1' }))
      assert.equal(outcome, 'duplicate')
    }),
  )

  it(
    'dropped markers close the time before: what is known stays known, what is not is refused',
    forgetting(make, async (store) => {
      const old = (event: string, at = start - 10 * day) => dated(delivery({ event }), at)
      await doneWith(store, old('evt_dropped'))
      await doneWith(store, old('evt_marked', start))
      await doneWith(store, delivery({ event: 'evt_undated' }))
      await newest(store)
      await forget(store, 'receipts', 'effects')
      await doneWith(store, old('evt_kept'))
      const boundary = start - 5 * day
      assert.deepEqual(await forgetUntil(store, boundary, 'receipt-markers'), { 'receipt-markers': 1 })
      assert.equal((await store.retention()).boundary, boundary)

      const refused = await store.accept(old('evt_dropped')).catch((error: unknown) => error)
      assert.ok(refused instanceof BeyondRetention && refused.code === 'beyond_retention')
      assert.equal(refused.boundary, boundary)
      await rejects(store.accept(old('evt_never_seen')), 'beyond_retention')
      assert.equal((await store.accept(old('evt_marked', start))).outcome, 'duplicate')
      assert.equal((await store.accept(delivery({ event: 'evt_undated' }))).outcome, 'duplicate')
      assert.equal((await store.accept(old('evt_kept'))).outcome, 'duplicate')
      assert.equal((await store.accept(old('evt_at_the_boundary', boundary))).outcome, 'accepted')
      assert.equal((await store.accept(delivery({ event: 'evt_new' }))).outcome, 'accepted')
    }),
  )

  it(
    'a boundary never goes back',
    forgetting(make, async (store) => {
      await forgetUntil(store, start, 'receipt-markers')
      await forgetUntil(store, start - day, 'receipt-markers')
      assert.equal((await store.retention()).boundary, start)
    }),
  )

  it(
    'what comes in together with others, or from a backfill, waits in quarantine when it is beyond',
    forgetting(make, async (store) => {
      await forgetUntil(store, start, 'receipt-markers')
      const old = () => ({
        ...dated(delivery({ event: 'evt_old' }), start - day),
        beyond: 'quarantined' as const,
      })
      const first = old()
      const answers = await store.acceptAll([first, delivery()])
      assert.deepEqual(answers[0], {
        outcome: 'quarantined',
        receipt: first.receipt.id,
        quarantine: first.onConflict.id,
        reason: 'beyond-retention',
        repeated: false,
      })
      assert.equal(answers[1]?.outcome, 'accepted')
      const { quarantine: entry, receipt } = (await store.showReceipt(first.receipt.id))!
      assert.equal(receipt.state, 'quarantined')
      assert.deepEqual(entry?.detail, {
        boundary: new Date(start).toISOString(),
        eventAt: new Date(start - day).toISOString(),
      })
      const again = await store.accept(old())
      assert.deepEqual(again.outcome === 'quarantined' && [again.receipt, again.repeated], [
        first.receipt.id,
        true,
      ])
      const together = [
        dated(delivery({ event: 'evt_older' }), start - day),
        delivery({ event: 'evt_beside' }),
      ]
      await rejects(store.acceptAll(together), 'beyond_retention')
      assert.equal((await store.accept(delivery({ event: 'evt_beside' }))).outcome, 'accepted')
    }),
  )

  it(
    'markers of effects go by their own time',
    forgetting(make, async (store) => {
      await done(store, { key: 'order/1', payload: 'ten' })
      await newest(store)
      await forget(store, 'effects')
      assert.deepEqual(await forgetUntil(store, start, 'effect-markers'), {})
      assert.deepEqual(await forget(store, 'effect-markers'), { 'effect-markers': 1 })
      const planned = await store.plan(
        planFor(await accepted(store), newEffect({ key: 'order/1', payload: 'ten' })),
      )
      assert.equal(planned.kind === 'planned' && planned.effects[0]?.created, true)
    }),
  )

  it(
    'another process knows the markers that this one made; one without their key decides nothing',
    on(make, async (store, { reopen }) => {
      const vault = newVault('key-1')
      await store.open({ migrate: false, vault })
      const other = await reopen()
      await other.open({ migrate: false, vault })
      const { receipt } = await done(store, { event: 'evt_1', key: 'order/1', payload: 'ten' })
      await newest(store)
      await forget(store, 'receipts', 'effects')

      assert.deepEqual(await other.accept(delivery({ event: 'evt_1' })), { outcome: 'duplicate', receipt })
      const planned = await other.plan(
        planFor(await accepted(other), newEffect({ key: 'order/1', payload: 'ten' })),
      )
      assert.equal(planned.kind === 'planned' && planned.effects[0]?.created, false)
      const waiting = await accepted(other)
      const blind = await reopen()
      await blind.open({ migrate: false })
      await rejects(blind.accept(delivery({ event: 'evt_1' })), 'marker_key_missing')
      await rejects(blind.forget({ step: 'receipts', until: later, limit: 10 }), 'marker_key_missing')
      await rejects(blind.plan(planFor(waiting, newEffect({ key: 'order/1' }))), 'marker_key_missing')
      assert.equal((await other.showReceipt(waiting.receipt))?.receipt.state, 'accepted')
    }),
  )

  it(
    'the key of markers outlives the vault key that sealed it, and is not replaced once it was used',
    on(make, async (store) => {
      const [first, second] = [randomBytes(32), randomBytes(32)]
      await store.open({ migrate: false, vault: newVault('first', first) })
      const { receipt } = await done(store, { event: 'evt_1' })
      await newest(store)
      await forget(store, 'receipts')
      await rejects(store.open({ migrate: false, vault: newVault('other') }), 'vault_key_unknown')
      await store.open({ migrate: false, vault: newVault('second', second, ['first', first]) })
      await store.open({ migrate: false, vault: newVault('second', second) })
      assert.deepEqual(await store.accept(delivery({ event: 'evt_1' })), { outcome: 'duplicate', receipt })
    }),
  )

  it(
    'erasing destroys the payloads of one person and keeps the evidence, once for a decision',
    forgetting(make, async (store) => {
      const one = await done(store, { event: 'evt_1', key: 'customer/1' })
      const two = await done(store, { event: 'evt_2', key: 'customer/2' })
      const audit = newAudit({ act: 'retention.erase', decision: 'erase-1' })
      const erasure = { audit, receipts: [one.receipt], effects: [two.effect] }
      assert.deepEqual(await store.erase(erasure), {
        kind: 'erased',
        payloads: 2,
        requests: 2,
        repeated: false,
      })
      assert.deepEqual(await store.erase(erasure), {
        kind: 'erased',
        payloads: 2,
        requests: 2,
        repeated: true,
      })
      for (const { receipt, effect } of [one, two]) {
        const story = (await store.showReceipt(receipt))!
        assert.equal(await store.readVault(story.receipt.vault), null)
        assert.equal((await effectOf(store, effect)).state, 'confirmed')
      }
      const [row] = await store.listAudit({ limit: 1 })
      assert.deepEqual([row?.act, row?.result], ['retention.erase', { payloads: 2, requests: 2 }])
      const other = await store.erase({ ...erasure, audit: newAudit({ decision: 'erase-1', subject: 'x' }) })
      assert.equal(other.kind, 'other')
      assert.equal((await store.accept(delivery({ event: 'evt_1' }))).outcome, 'duplicate')
    }),
  )

  it(
    'what is not done with is not erased, and then nothing is',
    forgetting(make, async (store) => {
      const final = await done(store)
      const open = await begun(store)
      const waiting = await accepted(store)
      const held = await store.accept(unfit('schema-failure'))
      const receipts = [final.receipt, waiting.receipt, held.receipt]
      const effects = [final.effect, open.effect.id]
      assert.deepEqual(await store.erase({ audit: newAudit(), receipts, effects }), {
        kind: 'refused',
        receipts: [waiting.receipt, held.receipt],
        effects: [open.effect.id],
      })
      const { receipt } = (await store.showReceipt(final.receipt))!
      assert.notEqual(await store.readVault(receipt.vault), null)
      assert.deepEqual(await store.listAudit({ limit: 1 }), [])
    }),
  )
}

function forgetting(make: MakeStore, test: (store: Store) => Promise<void>): () => Promise<void> {
  return on(make, async (store) => {
    await store.open({ migrate: false, vault: newVault('key-1') })
    await test(store)
  })
}

function newVault(name: string, key = randomBytes(32), ...older: [name: string, key: Uint8Array][]): Vault {
  const keys = [[name, key] as const, ...older].map(([id, bytes]) => [id, createSecretKey(bytes)] as const)
  return new Vault(new KeyRing(new Map(keys)), { bytes: randomBytes, fraction: Math.random })
}

function dated(entry: Acceptance, eventAt: Instant): Acceptance {
  return { ...entry, receipt: { ...entry.receipt, eventAt } }
}

interface Made {
  readonly event?: string
  readonly body?: string
  readonly key?: string
  readonly payload?: string
  readonly at?: Instant
}

async function done(store: Store, { key, payload, ...options }: Made = {}) {
  const effect = { ...(key === undefined ? {} : { key }), ...(payload === undefined ? {} : { payload }) }
  return await doneWith(store, delivery(options), newEffect(effect))
}

/** A receipt that was planned, and its effect that was confirmed. */
async function doneWith(store: Store, entry: Acceptance, effect = newEffect()) {
  const answer = await store.accept(entry)
  assert.equal(answer.outcome, 'accepted')
  if (answer.outcome === 'accepted') await store.plan(planFor(answer, effect))
  const taken = await store.takeDue({
    worker: 'wrk_alice' as never,
    now: start,
    leaseMs: 1_000,
    slots: { bank: 1_000 },
  })
  const work = taken.find((one) => one.effect.id === effect.id)
  assert.equal(work?.kind, 'attempt')
  if (work?.kind === 'attempt') await settled(store, settlement(work, { to: 'confirmed', dueAt: null }))
  return { receipt: entry.receipt.id as ReceiptId, effect: effect.id }
}

/** Receipts and effects that came last stay in some stores: so that the test's own are not those. */
async function newest(store: Store): Promise<void> {
  await plannedEffect(store)
}

function conflictOf(answer: Accepted): Extract<Accepted, { outcome: 'conflict' }> {
  assert.equal(answer.outcome, 'conflict')
  return answer as Extract<Accepted, { outcome: 'conflict' }>
}

async function forget(store: Store, ...steps: readonly RetentionStep[]) {
  return await forgetUntil(store, later, ...steps)
}

/** What each step took, without those that took nothing. */
async function forgetUntil(store: Store, until: Instant, ...steps: readonly RetentionStep[]) {
  const counts: Partial<Record<RetentionStep, number>> = {}
  for (const step of steps) {
    const { count } = await walk(store, { step, until, limit: 100 })
    if (count > 0) counts[step] = count
  }
  return counts
}

async function walk(store: Store, batch: Parameters<Store['forget']>[0]) {
  const total = { count: 0, bytes: 0, batches: 0 }
  for (let next: Forgotten['next'] | undefined; next !== null; ) {
    const answer: Forgotten = await store.forget({ ...batch, ...(next === undefined ? {} : { after: next }) })
    total.count += answer.count
    total.bytes += answer.bytes
    total.batches++
    next = answer.next
  }
  return total
}
