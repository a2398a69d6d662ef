import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { counterfoil } from '../counterfoil.ts'
import type { RetentionOptions } from '../domain/index.ts'
import { dawn, day, RetentionWorld, vault } from '../engine/fixtures/retention-world.ts'
import { producer } from '../intake/index.ts'
import { github } from '../intake/producers/index.ts'
import { MemoryDatabase } from '../store/sqlite/index.ts'
import { faultyStore } from '../testing/index.ts'
import { applyRetention, erase, planRetention, retentionHorizons } from './retention.ts'

const dana = { name: 'dana', role: 'approver' } as const
const vera = { name: 'vera', role: 'viewer' } as const
let made = 0
const act = (decision = `decision-${++made}`) => ({ operator: dana, reason: 'as every month', decision })

describe('retention, as operators see it', () => {
  let database: MemoryDatabase
  let world: RetentionWorld
  const app = (retention?: RetentionOptions, store = world.store) =>
    counterfoil({
      store,
      clock: world.clock,
      producers: [producer('github', github({ secrets: 'a secret of these tests' }))],
      triggers: [],
      recipients: [],
      ...(retention === undefined ? {} : { retention }),
    })
  const short = { audit: '1d', queue: '1d', operator: '1d', boundary: '60d' } as const

  beforeEach(async () => {
    database = new MemoryDatabase()
    const { store } = database.handle()
    await store.open({ migrate: true, vault })
    world = new RetentionWorld(store)
    for (const id of ['evt_1', 'evt_2', 'evt_3']) await world.deliver({ id, key: id, eventAt: dawn }, dawn)
    await world.confirm(dawn)
    world.clock.jump(100 * day)
  })
  afterEach(() => database.close())

  test('a plan counts what an application then takes, and changes nothing', async () => {
    const one = app(short)
    const plan = await planRetention(one, vera)
    assert.equal((await world.store.status()).receipts.total, 3)
    assert.equal(plan.boundary, world.clock.now() - 60 * day)
    const counts = Object.fromEntries(plan.steps.map(({ step, count }) => [step, count]))
    assert.deepEqual([counts.payloads, counts.requests, counts.receipts, counts.effects], [3, 3, 2, 2])
    const run = await applyRetention(one, act())
    assert.deepEqual(
      run.steps.slice(0, 2).map(({ count, bytes }) => [count, bytes]),
      plan.steps.slice(0, 2).map(({ count, bytes }) => [count, bytes]),
    )
    assert.deepEqual([run.state, run.boundary], ['done', plan.boundary])
    assert.equal((await world.store.status()).receipts.total, 1)
    assert.equal(
      (await world.deliver({ id: 'evt_1', key: 'evt_1', eventAt: dawn }, dawn)).outcome,
      'beyond_retention',
    )
  })

  test('an application that was interrupted goes on under its decision, and both ends are in the audit log', async () => {
    const faulty = faultyStore(world.store, {
      kind: 'commit-unknown',
      call: 'forget',
      committed: true,
      skip: 2,
    })
    const decision = act('monthly')
    await assert.rejects(applyRetention(app(short, faulty), decision), { code: 'commit_unknown' })
    assert.equal((await applyRetention(app(short), decision)).state, 'done')
    const rows = await world.store.listAudit({ limit: 9, after: 0 })
    assert.deepEqual(
      rows.map((row) => row.decision),
      ['monthly', 'monthly/done'],
    )
    await assert.rejects(applyRetention(app({ ...short, audit: '2d', operator: '2d' }), decision), {
      code: 'decision_id_used',
    })
  })

  test('applying and erasing need an approver, and a configuration that says how long', async () => {
    const viewer = { ...act(), operator: vera }
    await assert.rejects(applyRetention(app(short), viewer), { code: 'not_authorised' })
    await assert.rejects(erase(app(short), { effects: ['evt_1'] }, viewer), { code: 'not_authorised' })
    await assert.rejects(planRetention(app(), vera), { code: 'retention_missing' })
    assert.equal(retentionHorizons(app()), null)
    assert.deepEqual(await world.store.listAudit({ limit: 1 }), [])
  })

  test('erasing one person keeps the evidence; what is not final is refused and named', async () => {
    const one = app(short)
    assert.deepEqual(await erase(one, { effects: ['evt_1'] }, act()), {
      kind: 'erased',
      payloads: 1,
      requests: 1,
      repeated: false,
    })
    const [story] = await world.store.showEffects('evt_1')
    assert.equal(story?.effect.state, 'confirmed')
    await world.deliver({ id: 'evt_4', key: 'evt_4', eventAt: null }, dawn)
    const [open] = await world.store.showEffects('evt_4')
    await assert.rejects(
      erase(one, { effects: ['evt_2', 'evt_4'] }, act()),
      (error: Error & { code: string }) => {
        assert.equal(error.code, 'erasure_refused')
        assert.match(error.message, new RegExp(open!.effect.id))
        return true
      },
    )
    await assert.rejects(erase(one, { effects: ['nobody'] }, act()), { code: 'not_found' })
    await assert.rejects(erase(one, {}, act()), { code: 'decision_invalid' })
  })

  test('horizons say what is needed and why', () => {
    const horizons = retentionHorizons(app({}))
    assert.equal(horizons?.needed.why, 'the audit horizon')
    assert.match(retentionHorizons(app(short))!.needed.why, /^an event of 'github' may come again for 30d/)
    assert.throws(() => app({ evidence: '1d' }), { code: 'retention_too_short' })
  })
})
