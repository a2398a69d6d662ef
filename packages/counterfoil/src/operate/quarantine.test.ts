import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { act, Program } from './fixtures/quarantine.ts'
import {
  assign,
  dismiss,
  listQuarantine,
  readQuarantinePayload,
  reprocess,
  showQuarantine,
} from './quarantine.ts'

const programs: Program[] = []
afterEach(async () => {
  for (const program of programs.splice(0)) await program.dispose()
})

async function program(): Promise<Program> {
  const one = await new Program().start()
  programs.push(one)
  return one
}

const viewer = { name: 'vera', role: 'viewer' } as const
const operator = { name: 'olga', role: 'operator' } as const

test('an entry starts work when the code that handles it is deployed, once', async () => {
  const one = await program()
  const entry = await one.receive('1')
  assert.deepEqual([entry.reason, entry.state, entry.eventId], ['unsupported-type', 'waiting', '1'])
  await one.deploy('trigger')
  const decision = { ...act(), expectedVersion: 1 }
  const answer = await reprocess(one.app, entry.id, decision)
  assert.deepEqual([answer.outcome, answer.repeated, answer.entry.state], ['released', false, 'released'])
  assert.equal((await one.app.store.showReceipt(entry.receipt))?.receipt.state, 'accepted')
  const again = await reprocess(one.app, entry.id, decision)
  assert.deepEqual([again.outcome, again.repeated], ['released', true])
  await assert.rejects(reprocess(one.app, entry.id, { ...act(), expectedVersion: 2 }), {
    code: 'quarantine_settled',
  })
  const outbox = await one.app.store.claimOutbox({
    worker: 'wrk_1' as never,
    now: Date.now() + 1_000,
    leaseMs: 1_000,
    limit: 10,
  })
  assert.equal(outbox.filter(({ kind }) => kind === 'plan').length, 1)
})

test('what still cannot start stays with the new fault as a note; the reason is the one of before', async () => {
  const one = await program()
  const entry = await one.receive('1', { number: 'one' })
  await one.deploy('trigger')
  const answer = await reprocess(one.app, entry.id, { ...act(), expectedVersion: 1 })
  assert.deepEqual(
    [answer.outcome, answer.entry.state, answer.entry.reason, answer.entry.version],
    ['kept', 'waiting', 'unsupported-type', 2],
  )
  const [note] = answer.notes
  assert.deepEqual([note?.reason, note?.by], ['schema-failure', 'dana'])
  assert.match(JSON.stringify(note?.detail), /\/number/)
  assert.equal((await one.app.store.showReceipt(entry.receipt))?.receipt.state, 'quarantined')
})

test('a dismissed entry never starts work', async () => {
  const one = await program()
  const entry = await one.receive('1')
  await dismiss(one.app, entry.id, { ...act(), expectedVersion: 1 })
  await one.deploy('trigger')
  await assert.rejects(reprocess(one.app, entry.id, { ...act(), expectedVersion: 2 }), {
    code: 'quarantine_settled',
  })
  assert.equal((await one.entry(entry.id)).state, 'dismissed')
  assert.equal((await one.app.store.status()).receipts.byState.accepted, 0)
})

test('an identity conflict is never reprocessed, and can be dismissed', async () => {
  const one = await program()
  await one.receive('1')
  const conflict = await one.receive('1', { number: 2 })
  assert.equal(conflict.reason, 'identity-conflict')
  await one.deploy('trigger')
  await assert.rejects(reprocess(one.app, conflict.id, { ...act(), expectedVersion: 1 }), {
    code: 'reprocess_refused',
  })
  assert.deepEqual(await one.app.store.listAudit({ limit: 5 }), [])
  assert.equal((await dismiss(one.app, conflict.id, { ...act(), expectedVersion: 1 })).outcome, 'dismissed')
})

test('a decision on an outdated view is refused, whichever way it is outdated', async () => {
  const one = await program()
  const entry = await one.receive('1')
  await assign(one.app, entry.id, 'olga', { ...act(), expectedVersion: 1 })
  for (const expectedVersion of [1, 3]) {
    for (const decide of [reprocess, dismiss]) {
      await assert.rejects(decide(one.app, entry.id, { ...act(), expectedVersion }), {
        code: 'decision_stale',
      })
    }
  }
  const now = await one.entry(entry.id)
  assert.deepEqual([now.state, now.version, now.assignee], ['waiting', 2, 'olga'])
  const nobody = await assign(one.app, entry.id, null, { ...act(), expectedVersion: 2 })
  assert.equal(nobody.entry.assignee, null)
})

test('a decision that lacks something is refused before anything is looked at', async () => {
  const one = await program()
  const entry = await one.receive('1')
  const whole = { ...act(), expectedVersion: 1 }
  for (const lacking of [
    { reason: '' },
    { reason: '   ' },
    { reason: 'two\nlines' },
    { reason: 'x'.repeat(501) },
    { decision: '' },
    { decision: 'a/b' },
    { decision: 'x'.repeat(101) },
    { expectedVersion: 0 },
    { expectedVersion: 1.5 },
    { operator: { name: '', role: 'approver' as const } },
    { operator: { name: 'a\u001b[2J', role: 'approver' as const } },
  ]) {
    await assert.rejects(
      dismiss(one.app, entry.id, { ...whole, ...lacking }),
      { code: 'decision_invalid' },
      JSON.stringify(lacking),
    )
  }
  await assert.rejects(assign(one.app, entry.id, '', whole), { code: 'decision_invalid' })
  await assert.rejects(dismiss(one.app, 'qua_none', whole), { code: 'not_found' })
  assert.equal((await one.entry(entry.id)).version, 1)
})

test('the same id for another decision is refused', async () => {
  const one = await program()
  const [first, second] = [await one.receive('1'), await one.receive('2')]
  const decision = { ...act(), expectedVersion: 1 }
  await dismiss(one.app, first.id, decision)
  for (const attempt of [
    () => dismiss(one.app, second.id, decision),
    () => reprocess(one.app, second.id, decision),
    () => dismiss(one.app, first.id, { ...decision, reason: 'another' }),
    () => dismiss(one.app, first.id, { ...decision, operator: operator }),
  ])
    await assert.rejects(attempt(), { code: 'decision_id_used' })
  assert.equal((await one.entry(second.id)).state, 'waiting')
})

test('a viewer looks and changes nothing', async () => {
  const one = await program()
  const entry = await one.receive('1')
  const decision = { ...act({ operator: viewer }), expectedVersion: 1 }
  assert.equal((await listQuarantine(one.app, viewer, { limit: 5 })).entries.length, 1)
  assert.equal((await showQuarantine(one.app, viewer, entry.id)).entry.id, entry.id)
  for (const attempt of [
    () => assign(one.app, entry.id, 'vera', decision),
    () => reprocess(one.app, entry.id, decision),
    () => dismiss(one.app, entry.id, decision),
    () => readQuarantinePayload(one.app, entry.id, decision),
  ])
    await assert.rejects(attempt(), { code: 'not_authorised' })
  assert.deepEqual(await one.app.store.listAudit({ limit: 5 }), [])
})

test('a payload is opened for an operator who says why, and the read is in the audit log', async () => {
  const one = await program()
  const entry = await one.receive('1', { number: 7 })
  const read = await readQuarantinePayload(one.app, entry.id, act({ operator, reason: 'support case 12' }))
  assert.deepEqual(JSON.parse(Buffer.from(read!.payload).toString()), { number: 7 })
  assert.equal(read?.contentType, 'application/json')
  const [row] = await one.app.store.listAudit({ limit: 1 })
  assert.deepEqual(
    [row?.act, row?.operator, row?.role, row?.subject, row?.reason],
    ['quarantine.payload', 'olga', 'operator', entry.id, 'support case 12'],
  )
  assert.doesNotMatch(JSON.stringify(row), /"number":7/)
  await assert.rejects(readQuarantinePayload(one.app, entry.id, act({ operator, reason: '' })), {
    code: 'decision_invalid',
  })
})
