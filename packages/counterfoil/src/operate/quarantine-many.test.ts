import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import type { CounterfoilOptions } from '../counterfoil.ts'
import { act, Program } from './fixtures/quarantine.ts'
import { assign, dismiss } from './quarantine.ts'
import { dryRunMany, manyBatch, runMany } from './quarantine-many.ts'

const programs: Program[] = []
afterEach(async () => {
  for (const program of programs.splice(0)) await program.dispose()
})

async function holding(count: number, more: Partial<CounterfoilOptions> = {}): Promise<Program> {
  const one = await new Program(more).start()
  programs.push(one)
  // One after the other: their order is that of the entries.
  for (let index = 0; index < count; index++) await one.receive(`evt-${index}`, { number: index })
  return one
}

const approver = { name: 'abe', role: 'approver' } as const
const reprocessing = { act: 'reprocess', filter: { producer: 'github' } } as const

test('a dry run counts, names what would never be reprocessed, and changes nothing', async () => {
  const one = await holding(3)
  await one.receive('evt-1', { number: 99 })
  await one.receive('other', {}, 'push')
  const run = await dryRunMany(one.app, approver, reprocessing)
  assert.deepEqual(
    [run.entries, run.never, run.byType, run.byReason, run.byProducer],
    [4, 1, { issues: 3, push: 1 }, { 'unsupported-type': 4 }, { github: 4 }],
  )
  assert.deepEqual(await dryRunMany(one.app, approver, reprocessing), run)
  const dismissing = await dryRunMany(one.app, approver, { act: 'dismiss', filter: { type: 'issues' } })
  assert.deepEqual([dismissing.entries, dismissing.never], [4, 0])
  assert.notEqual(dismissing.digest, run.digest)
  assert.deepEqual(await one.app.store.listAudit({ limit: 5 }), [])
})

test('a run does what the dry run said, oldest first, in batches, and reports', async () => {
  const one = await holding(manyBatch + 5)
  await one.receive('odd', { number: 'none' })
  await one.deploy('trigger')
  const { digest } = await dryRunMany(one.app, approver, reprocessing)
  const decision = act({ operator: approver })
  const run = await runMany(one.app, { ...reprocessing, digest }, decision)
  assert.deepEqual(
    [run.state, run.released, run.kept, run.dismissed, run.stale],
    ['done', manyBatch + 5, 1, 0, 0],
  )
  const rows = await one.app.store.listAudit({ limit: 9, after: 0 })
  assert.deepEqual(
    rows.map((row) => row.decision),
    [decision.decision, `${decision.decision}/000001`, `${decision.decision}/000002`],
  )
  const records = await one.app.store.claimOutbox({
    worker: 'wrk_1' as never,
    now: Date.now() + 1_000,
    leaseMs: 1_000,
    limit: 1_000,
  })
  const ids = records.flatMap((record) => (record.kind === 'plan' ? [record.receipt.eventId] : []))
  assert.deepEqual(
    ids,
    Array.from({ length: manyBatch + 5 }, (_, index) => `evt-${index}`),
  )
  assert.deepEqual(await runMany(one.app, { ...reprocessing, digest }, decision), run)
})

test('a run that stopped goes on where it stopped, with what it had done', async () => {
  const one = await holding(2 * manyBatch + 1)
  await one.deploy('trigger')
  const { digest } = await dryRunMany(one.app, approver, reprocessing)
  const decision = act({ operator: approver })
  const states = []
  for (let calls = 0; calls < 4; calls++) {
    const { state, released } = await runMany(one.app, { ...reprocessing, digest }, decision, {
      maxBatches: 1,
    })
    states.push([state, released])
    await one.deploy('trigger')
  }
  assert.deepEqual(states, [
    ['more', manyBatch],
    ['more', 2 * manyBatch],
    ['more', 2 * manyBatch + 1],
    ['done', 2 * manyBatch + 1],
  ])
})

test('two processes that run the same decision at once do it once', async () => {
  const one = await holding(3 * manyBatch)
  await one.deploy('trigger')
  const { digest } = await dryRunMany(one.app, approver, reprocessing)
  const decision = act({ operator: approver })
  const runs = await Promise.all([1, 2, 3].map(() => runMany(one.app, { ...reprocessing, digest }, decision)))
  for (const run of runs) assert.deepEqual([run.state, run.released], ['done', 3 * manyBatch])
  assert.equal((await one.app.store.status()).receipts.byState.accepted, 3 * manyBatch)
  assert.equal((await one.app.store.listAudit({ limit: 99 })).length, 4)
})

test('a run is refused when the filter finds another set, or an entry changed, since the dry run', async () => {
  const one = await holding(3)
  const { digest } = await dryRunMany(one.app, approver, reprocessing)
  const [newest] = (await one.app.store.listQuarantine({ limit: 1 })).entries
  await assign(one.app, newest!.id, 'abe', { ...act(), expectedVersion: 1 })
  const refused = { code: 'selection_changed' }
  await assert.rejects(runMany(one.app, { ...reprocessing, digest }, act()), refused)
  const other = { act: 'reprocess', filter: {}, digest } as const
  await assert.rejects(runMany(one.app, other, act()), refused)
  await assert.rejects(runMany(one.app, { ...reprocessing, act: 'dismiss', digest }, act()), refused)
  await assert.rejects(runMany(one.app, { ...reprocessing, digest: 'all' }, act()), {
    code: 'decision_invalid',
  })
  assert.equal((await one.app.store.status()).quarantine, 3)
})

test('what comes after the dry run is left alone', async () => {
  const one = await holding(2)
  const dismissing = { act: 'dismiss', filter: {} } as const
  const { digest } = await dryRunMany(one.app, approver, dismissing)
  const late = await one.receive('late')
  const run = await runMany(one.app, { ...dismissing, digest }, act())
  assert.equal(run.dismissed, 2)
  assert.equal((await one.entry(late.id)).state, 'waiting')
})

test('what somebody changes while a run goes on is left alone and told', async () => {
  const one = await holding(2 * manyBatch)
  const dismissing = { act: 'dismiss', filter: {} } as const
  const { digest } = await dryRunMany(one.app, approver, dismissing)
  const decision = act({ operator: approver })
  await runMany(one.app, { ...dismissing, digest }, decision, { maxBatches: 1 })
  const [first, second] = (await one.app.store.listQuarantine({ limit: 2 })).entries
  await assign(one.app, first!.id, 'olga', { ...act(), expectedVersion: 1 })
  await dismiss(one.app, second!.id, { ...act(), expectedVersion: 1 })
  const run = await runMany(one.app, { ...dismissing, digest }, decision)
  assert.deepEqual([run.dismissed, run.stale], [2 * manyBatch - 2, 1])
  const kept = await one.entry(first!.id)
  assert.deepEqual([kept.state, kept.assignee], ['waiting', 'olga'])
})

test('nothing to decide on is a run too; deciding on many needs an approver', async () => {
  const one = await holding(1)
  const none = { act: 'dismiss', filter: { producer: 'nobody' } } as const
  const { digest, entries } = await dryRunMany(one.app, approver, none)
  assert.equal(entries, 0)
  assert.deepEqual((await runMany(one.app, { ...none, digest }, act())).dismissed, 0)
  const olga = { name: 'olga', role: 'operator' } as const
  const dry = await dryRunMany(one.app, olga, reprocessing)
  await assert.rejects(runMany(one.app, { ...reprocessing, digest: dry.digest }, act({ operator: olga })), {
    code: 'not_authorised',
  })
})

test('above the limit of two persons the first only proposes, and another one who asks for the same does it', async () => {
  const one = await holding(3, { twoPersons: { many: 2 } })
  const dismissing = { act: 'dismiss', filter: { type: 'issues' } } as const
  const { digest } = await dryRunMany(one.app, approver, dismissing)
  const proposed = act({ operator: approver })
  for (let asked = 0; asked < 2; asked++) {
    const run = await runMany(one.app, { ...dismissing, digest }, proposed)
    assert.deepEqual([run.state, run.dismissed], ['proposed', 0])
  }
  const again = await runMany(one.app, { ...dismissing, digest }, act({ operator: approver }))
  assert.equal(again.state, 'proposed')
  assert.equal((await one.app.store.status()).quarantine, 3)
  const second = act({ operator: { name: 'ada', role: 'approver' } })
  const run = await runMany(one.app, { ...dismissing, digest }, second)
  assert.deepEqual([run.state, run.dismissed], ['done', 3])
  assert.deepEqual(
    (await one.app.store.listAudit({ limit: 9 })).map((row) => [row.operator, row.act]),
    [
      ['ada', 'quarantine.dismiss-many'],
      ['ada', 'quarantine.dismiss-many'],
      ['abe', 'quarantine.propose-many'],
      ['abe', 'quarantine.propose-many'],
    ],
  )
})

test('up to the limit one person decides', async () => {
  const one = await holding(2, { twoPersons: { many: 2 } })
  const dismissing = { act: 'dismiss', filter: { type: 'issues' } } as const
  const { digest } = await dryRunMany(one.app, approver, dismissing)
  const run = await runMany(one.app, { ...dismissing, digest }, act({ operator: approver }))
  assert.deepEqual([run.state, run.dismissed], ['done', 2])
})
