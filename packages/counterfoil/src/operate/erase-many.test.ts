import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { systemRandom } from '../ambient.ts'
import { counterfoil } from '../counterfoil.ts'
import { dawn, RetentionWorld } from '../engine/fixtures/retention-world.ts'
import { delivery, newEffect, planFor } from '../store/conformance/given.ts'
import type { Store } from '../store/index.ts'
import { loadKeyRing, Vault } from '../store/index.ts'
import { MemoryDatabase } from '../store/sqlite/index.ts'
import { faultyStore } from '../testing/index.ts'
import { verifyAudit } from './audit.ts'
import { planErasure, runErasure } from './erase-many.ts'

const dana = { name: 'dana', role: 'approver' } as const
const oona = { name: 'oona', role: 'operator' } as const
const vera = { name: 'vera', role: 'viewer' } as const
const act = (decision: string) => ({ operator: dana, reason: 'request 2026-118', decision })
const byMail = { pointer: '/customer/email', equals: 'olga@example.com' }

describe('erasing what a query finds', () => {
  let database: MemoryDatabase
  let store: Store
  let world: RetentionWorld
  const env = { COUNTERFOIL_VAULT_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}` }
  const vault = new Vault(loadKeyRing({ env, devFile: 'none', log: () => {} }), systemRandom)
  process.env.COUNTERFOIL_VAULT_KEYS = env.COUNTERFOIL_VAULT_KEYS
  const app = (over: Store = store) =>
    counterfoil({ store: over, clock: world.clock, triggers: [], recipients: [] })

  /** Events of two customers, 60 each; every one plans an effect. */
  async function deliver(count: number, from = 0): Promise<void> {
    for (let number = from; number < from + count; number++) {
      const customer = number % 2 === 0 ? 'olga' : 'paul'
      const body = JSON.stringify({ customer: { email: `${customer}@example.com` }, number })
      const entry = delivery({ event: `evt_${number}`, body, at: dawn + number })
      const payload = vault.seal(Buffer.from(body), entry.receipt.id)
      const accepted = await store.accept({ ...entry, payload })
      if (accepted.outcome !== 'accepted') assert.fail(accepted.outcome)
      const effect = newEffect({
        key: `customer/${customer}/mail/${number}`,
        payload: String(number),
        at: dawn,
      })
      await store.plan(planFor(accepted, effect))
    }
  }
  const left = async () => {
    const receipts = await store.listReceipts({ limit: 500 })
    const kept = await Promise.all(receipts.map(async ({ vault: place }) => await store.readVault(place)))
    return kept.filter((one) => one !== null).length
  }

  beforeEach(async () => {
    database = new MemoryDatabase()
    store = database.handle().store
    await store.open({ migrate: true, vault })
    world = new RetentionWorld(store)
    await deliver(120)
    await world.confirm(dawn + 1_000)
  })
  afterEach(() => database.close())

  test('above the limit of two persons the first only proposes, and another one who asks for the same does it', async () => {
    const guarded = counterfoil({
      store,
      clock: world.clock,
      triggers: [],
      recipients: [],
      twoPersons: { many: 59 },
    })
    const { digest } = await planErasure(guarded, oona, byMail)
    for (const decision of ['erase-1', 'erase-1', 'erase-2']) {
      const run = await runErasure(guarded, byMail, digest, act(decision))
      assert.deepEqual([run.state, run.payloads], ['proposed', 0])
    }
    assert.equal(await left(), 120)
    const second = { ...act('erase-3'), operator: { name: 'ada', role: 'approver' } as const }
    const run = await runErasure(guarded, byMail, digest, second)
    assert.deepEqual([run.state, run.payloads], ['done', 60])
    const acts = (await store.listAudit({ limit: 9 })).map((row) => `${row.operator} ${row.act}`)
    assert.deepEqual([...new Set(acts)], ['ada retention.erase-many', 'dana retention.propose-erase-many'])
  })

  for (const [name, query, found] of [
    ['a value in the payload', byMail, { receipts: 60, effects: 0 }],
    ['the beginning of a key', { keyPrefix: 'customer/olga/' }, { receipts: 0, effects: 60 }],
  ] as const) {
    test(`by ${name}: planned, then destroyed for that person alone, and the evidence stays`, async () => {
      const { digest, ...counts } = await planErasure(app(), oona, query)
      assert.deepEqual(counts, { ...found, open: 0 })
      assert.equal(await left(), 120)
      const done = { state: 'done', payloads: 60, requests: 60, open: 0 }
      assert.deepEqual(await runErasure(app(), query, digest, act('erase-1')), done)
      assert.equal(await left(), 60)
      const [story] = await store.showEffects('customer/olga/mail/0')
      assert.equal(story?.effect.state, 'confirmed')
      assert.equal(await store.readRequest(story!.effect.id), null)
      // The same again changes nothing and tells the same.
      assert.deepEqual(await runErasure(app(), query, digest, act('erase-1')), done)
      const rows = await store.listAudit({ limit: 100 })
      assert.ok(rows.every(({ reason, operator }) => reason === 'request 2026-118' && operator === 'dana'))
      assert.ok(
        !JSON.stringify(rows.map(({ detail, subject }) => [detail, subject])).includes('@example.com'),
      )
      assert.equal((await verifyAudit(app(), vera)).broken, null)
    })
  }

  test('what is interrupted goes on where it was, with every figure right', async () => {
    const { digest } = await planErasure(app(), oona, byMail)
    const first = await runErasure(app(), byMail, digest, act('erase-2'), { maxBatches: 1 })
    assert.deepEqual(first, { state: 'more', payloads: 50, requests: 50, open: 0 })
    const faulty = faultyStore(store, { kind: 'commit-unknown', call: 'erase', committed: true, skip: 0 })
    await assert.rejects(runErasure(app(faulty), byMail, digest, act('erase-2')), { code: 'commit_unknown' })
    const last = await runErasure(app(), byMail, digest, act('erase-2'))
    assert.deepEqual(last, { state: 'done', payloads: 60, requests: 60, open: 0 })
  })

  test('what is not done with is counted, left and told; the rest goes', async () => {
    await deliver(2, 120)
    const plan = await planErasure(app(), oona, byMail)
    assert.deepEqual([plan.receipts, plan.open], [61, 1])
    const run = await runErasure(app(), byMail, plan.digest, act('erase-3'))
    assert.deepEqual(run, { state: 'done', payloads: 60, requests: 60, open: 1 })
    const [story] = await store.showEffects('customer/olga/mail/120')
    assert.notEqual(await store.readRequest(story!.effect.id), null)
  })

  test('a run is bound to what its plan found: what comes later is no part of it', async () => {
    const plan = await planErasure(app(), oona, byMail)
    await deliver(2, 120)
    await world.confirm(dawn + 2_000)
    const run = await runErasure(app(), byMail, plan.digest, act('erase-4'))
    assert.equal(run.payloads, 60)
    const other = { pointer: '/customer/email', equals: 'paul@example.com' }
    await assert.rejects(runErasure(app(), other, plan.digest, act('erase-5')), { code: 'selection_changed' })
    await assert.rejects(runErasure(app(), byMail, 'all', act('erase-6')), { code: 'decision_invalid' })
    await assert.rejects(planErasure(app(), oona, { keyPrefix: '' }), { code: 'decision_invalid' })
    const noPointer = { pointer: 'customer', equals: 'olga' }
    await assert.rejects(planErasure(app(), oona, noPointer), { code: 'decision_invalid' })
  })

  test('to plan needs an operator, to erase an approver', async () => {
    const { digest } = await planErasure(app(), oona, byMail)
    await assert.rejects(planErasure(app(), vera, byMail), { code: 'not_authorised' })
    const asked = { ...act('erase-7'), operator: oona }
    await assert.rejects(runErasure(app(), byMail, digest, asked), { code: 'not_authorised' })
    assert.equal(await left(), 120)
  })
})
