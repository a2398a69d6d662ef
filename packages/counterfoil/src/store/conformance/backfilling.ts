import assert from 'node:assert/strict'
import { it } from 'node:test'
import { noCounts } from '../../domain/index.ts'
import type { BackfillPlan, BackfillView, NewBackfill } from '../backfills.ts'
import type { Acceptance, ChunkAcceptance, EffectWork, NewEffect, Store } from '../store.ts'
import {
  accepted,
  alice,
  bob,
  claim,
  delivery,
  leaseMs,
  type MakeStore,
  newAudit,
  newEffect,
  on,
  planFor,
  plansOf,
  settled,
  settlement,
  start,
  unfit,
} from './given.ts'

const digest = 'ab'.repeat(32)

/** Old deliveries through the same boundary: approved, in chunks, behind live ones. */
export function backfilling(make: MakeStore): void {
  it(
    'a plan is kept with its chunks, and gives way to another until it was begun',
    on(make, async (store) => {
      const first = await store.planBackfill(planned({ chunks: 3 }))
      assert.deepEqual([first.kind, first.backfill.state, first.backfill.version], ['planned', 'planned', 1])
      await approve(store)
      const again = await store.planBackfill(planned({ chunks: 2, digest: 'cd'.repeat(32) }))
      assert.deepEqual([again.kind, again.backfill.state, again.backfill.version], ['planned', 'planned', 3])
      assert.equal(again.backfill.run.approval, null)
      assert.deepEqual(await store.backfillChunks({ name: 'march', from: 1, limit: 9 }), [chunk(1)])
      assert.deepEqual(await store.listBackfills(), [again.backfill])
      assert.deepEqual(await store.showBackfill('march'), again.backfill)
      assert.equal(await store.showBackfill('april'), null)
      await approve(store, 'cd'.repeat(32))
      await begin(store)
      const refused = await store.planBackfill(planned({ chunks: 1 }))
      assert.deepEqual([refused.kind, refused.backfill.plan.chunks], ['refused', 2])
    }),
  )

  it(
    'an approval is bound to the digest, is audited, and the same decision again changes nothing',
    on(make, async (store) => {
      await store.planBackfill(planned())
      const audit = newAudit({ act: 'backfill.approve', subject: 'march' })
      const move = { fact: 'approved', digest } as const
      const other = { ...move, digest: 'cd'.repeat(32) }
      assert.equal((await store.decideBackfill({ audit, name: 'march', move: other })).kind, 'refused')
      assert.equal((await store.listAudit({ limit: 9 })).length, 0)
      const decided = await store.decideBackfill({ audit, name: 'march', move })
      assert.ok(decided.kind === 'decided' && !decided.repeated)
      const { by, reason, decision } = decided.backfill.run.approval!
      assert.deepEqual([by, reason, decision], [audit.operator, audit.reason, audit.decision])
      const repeated = await store.decideBackfill({ audit, name: 'march', move })
      assert.ok(repeated.kind === 'decided' && repeated.repeated)
      const elsewhere = { audit: { ...audit, subject: 'april' }, name: 'april', move }
      assert.equal((await store.decideBackfill(elsewhere)).kind, 'other')
      assert.equal((await store.listAudit({ limit: 9 })).length, 1)
      const absent = { audit: newAudit(), name: 'april', move }
      assert.deepEqual(await store.decideBackfill(absent), { kind: 'refused', backfill: null })
    }),
  )

  it(
    'nothing is begun that was not approved, and nothing goes on that was paused',
    on(make, async (store) => {
      await store.planBackfill(planned())
      const decide = (move: { fact: 'begun'; rate: null } | { fact: 'paused' }) =>
        store.decideBackfill({ audit: newAudit(), name: 'march', move })
      assert.equal((await decide({ fact: 'begun', rate: null })).kind, 'refused')
      assert.equal(await store.leaseBackfill(lease()), null)
      await approve(store)
      assert.equal((await decide({ fact: 'paused' })).kind, 'refused')
      await begin(store)
      assert.equal((await store.leaseBackfill(lease()))?.worker, alice)
      assert.equal((await decide({ fact: 'paused' })).kind, 'decided')
      const late = await store.acceptChunk(taking(0))
      assert.deepEqual([late.kind, late.backfill?.state], ['lost', 'paused'])
      assert.equal((await store.status()).receipts.total, 0)
    }),
  )

  it(
    'one worker takes it in at a time, until its lease ends or it leaves',
    on(make, async (store, { reopen }) => {
      const other = await reopen()
      await running(store, { chunks: 2 })
      assert.equal((await store.leaseBackfill(lease()))?.worker, alice)
      assert.equal(await other.leaseBackfill(lease({ worker: bob })), null)
      assert.equal((await other.acceptChunk(taking(0, { worker: bob }))).kind, 'lost')
      const after = start + leaseMs
      assert.equal((await other.leaseBackfill(lease({ worker: bob, now: after })))?.worker, bob)
      assert.equal((await store.acceptChunk(taking(0, { now: after }))).kind, 'lost')
      const taken = await other.acceptChunk(taking(0, { worker: bob, now: after }))
      assert.equal(taken.kind, 'taken')
      // The chunk renewed the lease.
      assert.equal(await store.leaseBackfill(lease({ now: after + leaseMs - 1 })), null)
      await other.leaveBackfill({ name: 'march', worker: bob, at: after, halted: null })
      assert.equal((await store.leaseBackfill(lease({ now: after })))?.worker, alice)
    }),
  )

  it(
    'a chunk is taken in once, with its receipts, figures and place in one transaction',
    on(make, async (store) => {
      const known = await accepted(store, { event: 'known', body: 'one' })
      await running(store, { chunks: 2 })
      await store.leaseBackfill(lease())
      const entries = [
        old('known', 'one'),
        old('known', 'two'),
        old('known', 'two'),
        old('new'),
        unfit('unsupported-type', { event: 'odd', backfill: 'march' }),
        unfit('schema-failure', { event: 'unfit', backfill: 'march' }),
      ]
      const given = taking(0, { entries, items: 8, others: ['malformed', 'refused'] })
      const taken = await store.acceptChunk(given)
      assert.equal(taken.kind, 'taken')
      const counts = {
        ...noCounts,
        new: 1,
        duplicate: 2,
        conflicting: 1,
        unsupported: 1,
        schemaFailure: 1,
        malformed: 1,
        refused: 1,
      }
      const { run, state } = taken.backfill!
      assert.deepEqual([state, run.chunks, run.items, run.counts], ['running', 1, 8, counts])
      assert.equal((await store.acceptChunk(given)).kind, 'lost')
      assert.deepEqual((await store.showBackfill('march'))?.run, run)
      const { receipts } = await store.status()
      assert.deepEqual([receipts.total, receipts.duplicates], [5, 2])
      const { receipt } = (await store.showReceipt(entries[3]!.receipt.id))!
      assert.deepEqual([receipt.origin, receipt.waived], ['backfill/march', 'signature'])
      assert.deepEqual((await store.showReceipt(known.receipt))?.receipt.waived, null)
      const last = await store.acceptChunk(taking(1, { items: 0, entries: [] }))
      assert.deepEqual([last.backfill?.state, last.backfill?.worker], ['done', null])
      assert.equal(last.backfill?.run.endedAt, start)
    }),
  )

  it(
    'a chunk of which one cannot be written leaves no trace, and is taken in later',
    on(make, async (store) => {
      await running(store)
      await store.leaseBackfill(lease())
      const good = old('one')
      const twin = { ...old('two'), receipt: { ...old('two').receipt, id: good.receipt.id } }
      await assert.rejects(store.acceptChunk(taking(0, { entries: [good, twin] })))
      assert.equal((await store.status()).receipts.total, 0)
      assert.equal((await store.showBackfill('march'))?.run.chunks, 0)
      assert.equal((await store.acceptChunk(taking(0, { entries: [good] }))).kind, 'taken')
    }),
  )

  it(
    'what halts says why, and may be begun again',
    on(make, async (store) => {
      await running(store)
      await store.leaseBackfill(lease())
      const leave = { name: 'march', at: start, halted: 'line 3 is another one' }
      await store.leaveBackfill({ ...leave, worker: bob })
      assert.equal((await store.showBackfill('march'))?.state, 'running')
      await store.leaveBackfill({ ...leave, worker: alice })
      const halted = (await store.showBackfill('march'))!
      assert.deepEqual([halted.state, halted.run.halted, halted.worker], ['halted', leave.halted, null])
      const again = await begin(store)
      assert.deepEqual([again.state, again.run.halted], ['running', null])
    }),
  )

  it(
    'its outbox records wait behind all others, whatever the time they came',
    on(make, async (store) => {
      await running(store)
      await store.leaseBackfill(lease())
      await store.acceptChunk(taking(0, { entries: [old('a'), old('b'), old('c')] }))
      await accepted(store, { event: 'live 1', at: start + 1_000 })
      await accepted(store, { event: 'live 2', at: start + 2_000, producer: 'github' })
      const events = async (limit: number, worker = alice) =>
        plansOf(await claim(store, start + 5_000, worker, limit)).map(({ receipt }) => receipt.eventId)
      assert.deepEqual((await events(2)).sort(), ['live 1', 'live 2'])
      assert.equal((await events(2)).length, 2)
      assert.equal((await events(2)).length, 1)
      assert.deepEqual(await events(2), [])
    }),
  )

  it(
    'its effects are begun behind all live ones, and what was begun once waits behind nothing',
    on(make, async (store) => {
      const plan = async (key: string, at: number, about: Partial<NewEffect>) => {
        const effect = { ...newEffect({ key, recipient: 'seats' }), plannedAt: at, ...about }
        const planned = { ...planFor(await accepted(store), effect), at }
        assert.equal((await store.plan(planned)).kind, 'planned')
      }
      const take = async (now: number, slots: number) =>
        (await store.takeDue({ worker: alice, now, leaseMs, slots: { seats: slots } }))
          .map((work) => work as EffectWork)
          .sort((a, b) => (a.effect.key < b.effect.key ? -1 : 1))
      const keys = (taken: readonly EffectWork[]) => taken.map(({ effect }) => effect.key)
      const ordered = (domain: string) => ({ order: { domain, version: 1 } })
      await plan('old 1', start, { behind: true })
      await plan('old 2', start + 1, { behind: true, ...ordered('a') })
      await plan('old 3', start + 2, { behind: true })
      await plan('live 1', start + 1_000, {})
      await plan('live 2', start + 2_000, ordered('b'))
      assert.deepEqual(keys(await take(start + 5_000, 2)), ['live 1', 'live 2'])
      const [first, ...others] = await take(start + 5_000, 2)
      assert.deepEqual(keys([first!, ...others]), ['old 1', 'old 2'])
      await settled(store, settlement(first!, { to: 'planned', dueAt: start + 6_000 }))
      await plan('live 3', start + 7_000, {})
      assert.deepEqual(keys(await take(start + 8_000, 1)), ['old 1'])
      assert.deepEqual(keys(await take(start + 8_000, 3)), ['live 3', 'old 3'])
      assert.deepEqual(keys(await take(start + 8_000, 3)), [])
    }),
  )

  it(
    'its effects keep their place among those that are taken in turn',
    on(make, async (store) => {
      const plan = async (version: number, about: Partial<NewEffect>) => {
        const order = { domain: 'a', version }
        const effect = { ...newEffect({ key: `a ${version}`, recipient: 'stream' }), order, ...about }
        assert.equal((await store.plan(planFor(await accepted(store), effect))).kind, 'planned')
      }
      await plan(2, { inTurn: true })
      await plan(1, { inTurn: true, behind: true })
      const slots = { stream: 2 }
      const taken = await store.takeDue({ worker: alice, now: start, leaseMs, slots, inTurn: ['stream'] })
      assert.deepEqual(
        taken.map(({ effect }) => effect.key),
        ['a 1'],
      )
    }),
  )

  it(
    'its receipts are planned as any other, and share the effects of live ones',
    on(make, async (store) => {
      const effect = newEffect({ key: 'invoice/1' })
      await store.plan(planFor(await accepted(store), effect))
      await running(store)
      await store.leaseBackfill(lease())
      await store.acceptChunk(taking(0, { entries: [old('again')] }))
      const [record] = plansOf(await claim(store))
      const { outbox } = record!
      const plan = planFor({ outbox, receipt: record!.receipt.id }, newEffect({ key: 'invoice/1' }))
      const answer = await store.plan(plan)
      assert.deepEqual(answer, { kind: 'planned', effects: [{ id: effect.id, created: false }] })
      const [story] = await store.showEffects('invoice/1')
      assert.equal(story?.causes.length, 2)
    }),
  )

  it(
    'what is known of deliveries is told in the order of the questions, and changes nothing',
    on(make, async (store) => {
      await store.acceptAll([delivery({ event: 'one', body: 'a' }), delivery({ event: 'one', body: 'b' })])
      const before = await store.status()
      const ask = (event: string, body: string) => {
        const { eventId, delivery: identity, fingerprint } = delivery({ event, body }).receipt
        return { eventId, delivery: identity, fingerprint }
      }
      const questions = [ask('one', 'c'), ask('one', 'a'), ask('two', 'a'), ask('one', 'b')]
      const known = await store.knownDeliveries(questions)
      assert.deepEqual(known, ['conflicting', 'duplicate', 'new', 'duplicate'])
      assert.deepEqual(await store.knownDeliveries([]), [])
      assert.deepEqual(await store.status(), before)
    }),
  )
}

function old(event: string, body?: string): Acceptance {
  return delivery({ event, ...(body === undefined ? {} : { body }), backfill: 'march' })
}

function chunk(number: number) {
  return { number, at: number * 700, before: number * 100, items: 100, digest: 'ef'.repeat(32) }
}

function planned(about: { chunks?: number; digest?: string } = {}): NewBackfill {
  const { chunks = 1 } = about
  const none = { count: 0, first: [] }
  const plan: BackfillPlan = {
    producer: 'stripe',
    source: { kind: 'events', path: '/var/march.jsonl' },
    at: start,
    by: 'dana',
    digest: about.digest ?? digest,
    items: chunks * 100,
    chunks,
    counts: { ...noCounts, new: chunks * 100 },
    faults: none,
    gaps: { lacking: none, unlisted: none, holes: null, from: null, to: null },
  }
  return { name: 'march', plan, chunks: Array.from({ length: chunks }, (_, number) => chunk(number)) }
}

function lease(about: Partial<ChunkAcceptance> = {}) {
  return { name: 'march', worker: alice, now: start, leaseMs, ...about }
}

function taking(number: number, about: Partial<ChunkAcceptance> = {}): ChunkAcceptance {
  return { ...lease(), chunk: number, items: 1, others: [], entries: [old(`event ${number}`)], ...about }
}

async function approve(store: Store, of = digest): Promise<void> {
  const audit = newAudit({ act: 'backfill.approve', subject: 'march' })
  const decided = await store.decideBackfill({
    audit,
    name: 'march',
    move: { fact: 'approved', digest: of },
  })
  assert.equal(decided.kind, 'decided')
}

async function begin(store: Store): Promise<BackfillView> {
  const audit = newAudit({ act: 'backfill.run', subject: 'march' })
  const decided = await store.decideBackfill({ audit, name: 'march', move: { fact: 'begun', rate: null } })
  assert.equal(decided.kind, 'decided')
  return (decided as { backfill: BackfillView }).backfill
}

async function running(store: Store, about: { chunks?: number } = {}): Promise<void> {
  await store.planBackfill(planned(about))
  await approve(store)
  await begin(store)
}

/** One backfill from its plan, made twice, to its end: every statement that it needs. */
export async function backfilled(store: Store): Promise<void> {
  await store.planBackfill(planned())
  await running(store)
  await store.knownDeliveries([old('a').receipt])
  await store.leaseBackfill(lease())
  await store.leaveBackfill({ name: 'march', worker: alice, at: start, halted: null })
  await store.leaseBackfill(lease())
  const taken = await store.acceptChunk(taking(0))
  assert.equal(taken.backfill?.state, 'done')
  assert.equal((await store.backfillChunks({ name: 'march', from: 0, limit: 9 })).length, 1)
}
