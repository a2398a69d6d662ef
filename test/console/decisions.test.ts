import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { closeBrowser, decide, findingsOf, pageFor, signIn } from './browser.ts'
import { ConsoleWorld, tokens } from './world.ts'

/** Every decision that the console offers, made as a person makes it, and looked up where it counts. */
describe('decisions at the console', () => {
  const world = new ConsoleWorld({ configure: { twoPersons: { effects: ['letter.send'] } } })
  const effectOf = async (key: string) => (await world.api(`search?q=${encodeURIComponent(key)}`)).effects[0]
  const unknown = async (key: string) =>
    world.until(`${key} is unknown`, async () => (await effectOf(key))?.state === 'unknown')
  const open = async (page: Page, key: string) => {
    await page.goto(`${world.url}/console/effects/${(await effectOf(key)).id}`)
    await page.getByRole('heading', { name: 'What you can safely do' }).waitFor()
  }
  const answer = (page: Page) => page.getByRole('region', { name: 'Answer' })

  before(async () => {
    await world.start()
    world.fail('"slow"', 'lost-request', 1_000)
    await world.deliver('d-slow', 'invoice.due', { id: 'slow', amount: 1 })
    for (const seat of ['s-ask', 's-close', 's-acted', 's-refused', 's-gone']) {
      world.fail(`"${seat}"`, 'lost-request')
      await world.deliver(`d-${seat}`, 'seat.moved', { id: seat })
    }
    for (const name of ['two', 'three']) {
      world.fail(`"${name}@`, 'lost-answer')
      await world.deliver(`d-${name}`, 'invoice.reminded', { to: `${name}@example.com` })
    }
    for (const number of [1, 2, 3, 4, 5, 6])
      await world.deliver(`q-${number}`, 'seat.ordered', { id: `q${number}` })
    await world.deliver('q-other', 'seat.lost', { id: 'other' })
    for (const number of [1, 2]) await world.deliver(`q-old-${number}`, 'seat.old', { id: `old-${number}` })
  })
  after(async () => {
    await closeBrowser()
    await world.dispose()
  })

  test('asking, closing the key, and evidence from outside each settle an unknown effect', async (t) => {
    const page = await pageFor(t)
    if (page === undefined) return
    await signIn(page, world.url, tokens.olga)
    await unknown('seat/s-ask')
    await open(page, 'seat/s-ask')
    await answer(page).getByText('Nobody knows yet: seats may have acted.').waitFor()
    await decide(page, 'Ask the recipient', { reason: 'the customer is on the phone' })
    await page.getByText(/The recipient was asked: it is unknown now/).waitFor()
    await page
      .getByText(/lookup: .*\(by olga\)/)
      .first()
      .waitFor()

    await open(page, 'seat/s-close')
    await decide(page, 'Close the key', { reason: 'a new revision is wanted' })
    await answer(page).getByText('No, and it never will: it was withdrawn.').waitFor()
    await answer(page)
      .getByText(/We know by closing its key at the recipient/)
      .waitFor()

    const evidence = 'seen at their desk & <b>signed</b>'
    for (const [key, act, says] of [
      ['seat/s-acted', 'It acted', 'Yes: seats has done it.'],
      ['seat/s-refused', 'It refused', 'No: seats refused it and did not act.'],
      ['seat/s-gone', 'Withdraw', 'No, and it never will: it was withdrawn.'],
    ] as const) {
      await open(page, key)
      await decide(page, act, { reason: 'they answered by mail', evidence, correlation: `op-${key}` })
      await answer(page).getByText(says).waitFor()
      await answer(page).getByText(`evidence from outside, decided by olga: ${evidence}`).waitFor()
      await page.getByText('which is final').first().waitFor({ state: 'attached' })
    }
    const rows = (await world.api('audit')).audit.map(({ act, operator, reason }: any) => [
      act,
      operator,
      reason,
    ])
    assert.deepEqual(rows.reverse().slice(0, 5), [
      ['effects.ask', 'olga', 'the customer is on the phone'],
      ['effects.place-tombstone', 'olga', 'a new revision is wanted'],
      ['effects.confirm', 'olga', 'they answered by mail'],
      ['effects.refuse', 'olga', 'they answered by mail'],
      ['effects.withdraw', 'olga', 'they answered by mail'],
    ])
  })

  test('where two persons decide, one proposes and only another approves', async (t) => {
    const page = await pageFor(t)
    if (page === undefined) return
    await unknown('letter/two@example.com')
    await signIn(page, world.url, tokens.olga)
    await open(page, 'letter/two@example.com')
    await decide(page, 'It acted', { reason: 'they have it', evidence: 'a photo of the letter' })
    const proposal = page.getByRole('region', { name: 'Proposal' })
    await proposal.getByText('they have it').waitFor()
    assert.equal(await proposal.getByRole('button', { name: 'Approve' }).isDisabled(), true)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await signIn(page, world.url, tokens.abe, '/console/unknown')
    await proposal.getByText('they have it').waitFor()
    await decide(page, 'Approve', { reason: 'I saw the photo' })
    await page.getByText('Approved and carried out.').waitFor()
    assert.equal((await effectOf('letter/two@example.com')).state, 'confirmed')
  })

  test('what the second person rejects leaves the effect as it is', async (t) => {
    const page = await pageFor(t)
    if (page === undefined) return
    await unknown('letter/three@example.com')
    const { id, version } = await effectOf('letter/three@example.com')
    await world.api(
      `effects/${id}/withdraw`,
      { reason: 'none', evidence: { says: 'gone' }, decision: 'd-3', expectedVersion: version },
      'olga',
    )
    await signIn(page, world.url, tokens.abe, `/console/effects/${id}`)
    await decide(page, 'Reject', { reason: 'ask them first' })
    await page.getByText('The proposal was rejected.').waitFor()
    await page.getByRole('region', { name: 'Proposal' }).waitFor({ state: 'detached' })
    await answer(page).getByText('Nobody knows yet: letters may have acted.').waitFor()
    assert.equal((await effectOf('letter/three@example.com')).state, 'unknown')
  })

  test('all that match are dismissed at once, and the payload of one is read at its receipt', async (t) => {
    const page = await pageFor(t)
    if (page === undefined) return
    await signIn(page, world.url, tokens.abe, '/console/quarantine?type=seat.old')
    await page.getByRole('button', { name: 'Decide on all that match' }).click()
    await page.getByLabel('Dismiss: they never start work').check()
    await page.getByText('2 entries would be decided on').waitFor()
    await page.getByRole('textbox', { name: 'Reason' }).fill('nobody has these any more')
    await page.getByRole('button', { name: 'Dismiss them' }).click()
    await page.getByText('Done: 0 released, 0 kept, 2 dismissed, 0 changed meanwhile.').waitFor()
    const { receipts } = await world.api('search?q=q-old-1')
    await page.goto(`${world.url}/console/receipts/${receipts[0].id}`)
    await decide(page, 'Read the payload', { reason: 'case 13' })
    await page.locator('.json').getByText('"old-1"').waitFor()
    const [last] = (await world.api('audit')).audit
    assert.deepEqual(
      [last.act, last.operator, last.reason, last.subject],
      ['receipts.payload', 'abe', 'case 13', receipts[0].id],
    )
  })

  test('an entry is assigned, its payload read, and dismissed; what changed meanwhile is not decided on', async (t) => {
    const page = await pageFor(t)
    if (page === undefined) return
    await signIn(page, world.url, tokens.olga, '/console/quarantine?event=q-other')
    await page.getByRole('link', { name: /q-other/ }).click()
    await decide(page, 'Assign', { reason: 'mine' })
    await page.getByText('Done: the entry is assigned.').waitFor()
    assert.equal(await page.getByText('"other"').count(), 0)
    await decide(page, 'Read the payload', { reason: 'case 12' })
    await page.getByText('"other"').waitFor()

    const [entry] = (await world.api('quarantine?event=q-other')).quarantine
    await page.getByRole('button', { name: 'Dismiss …' }).click()
    await world.api(`quarantine/${entry.id}/assign`, {
      ...{ assignee: 'abe', reason: 'no, mine', decision: 'between', expectedVersion: entry.version },
    })
    await page.route('**/api/v1/quarantine/qua_*', (route) =>
      route.request().method() === 'GET' ? route.abort() : route.continue(),
    )
    await page.getByRole('textbox', { name: 'Reason' }).fill('not ours')
    await page.getByRole('button', { name: 'Dismiss it' }).click()
    await page.getByRole('dialog').getByRole('alert').getByText('decision_stale').waitFor()
    assert.equal((await world.api(`quarantine/${entry.id}`)).quarantine.state, 'waiting')
    await page.unroute('**/api/v1/quarantine/qua_*')
    await page.reload()
    await decide(page, 'Dismiss', { reason: 'not ours' })
    await page.getByText('Done: the entry is dismissed.').waitFor()
    await page.getByText('it never starts work').first().waitFor()
  })

  test('when its trigger is deployed, one entry is reprocessed, then all the others at once after a dry run', async (t) => {
    const page = await pageFor(t)
    if (page === undefined) return
    await world.deploy()
    await signIn(page, world.url, tokens.abe, '/console/quarantine?event=q-1')
    await page.getByRole('link', { name: /q-1/ }).click()
    await decide(page, 'Reprocess', { reason: 'the trigger is deployed' })
    await page.getByText('Done: the entry is released.').waitFor()
    await world.until(
      'its effect is confirmed',
      async () => (await effectOf('seat/q1'))?.state === 'confirmed',
    )

    await page.goto(`${world.url}/console/quarantine?type=seat.ordered`)
    await page.getByRole('button', { name: 'Decide on all that match' }).click()
    await page.getByText('5 entries would be decided on').waitFor()
    assert.deepEqual(await findingsOf(page), [])
    await page.getByRole('textbox', { name: 'Reason' }).fill('the trigger is deployed')
    await page.getByRole('button', { name: 'Reprocess them' }).click()
    await page.getByText('Done: 5 released, 0 kept, 0 dismissed, 0 changed meanwhile.').waitFor()
    await page.getByText('Nothing waits here by this filter.').waitFor()
    await world.until('each seat is open', async () => (await effectOf('seat/q6'))?.state === 'confirmed')
    for (const number of [1, 2, 3, 4, 5, 6])
      assert.equal(world.recipients.acts.filter(({ body }) => body.includes(`"q${number}"`)).length, 1)
  })

  test('a repeat that the contract makes safe is hastened, and the recipient acts once', async (t) => {
    const page = await pageFor(t)
    if (page === undefined) return
    await signIn(page, world.url, tokens.olga)
    // By then the engine waits long enough for a person to be quicker.
    await world.until('it was tried a few times', async () => {
      const { state, dueAt } = await effectOf('invoice/slow')
      return state === 'unknown' && dueAt - Date.now() > 12_000
    })
    world.faults.delete('"slow"')
    await open(page, 'invoice/slow')
    await answer(page)
      .getByText(/It was sent \d+ times, always the same bytes under the same key/)
      .waitFor()
    await decide(page, 'Repeat now', { reason: 'they are up again' })
    await answer(page).getByText('Yes: billing has done it.').waitFor()
    assert.equal(world.recipients.acts.filter(({ body }) => body.includes('"slow"')).length, 1)
  })

  test('a viewer sees all of it and decides on nothing', async (t) => {
    const page = await pageFor(t)
    if (page === undefined) return
    await signIn(page, world.url, tokens.vera)
    await open(page, 'seat/s-ask')
    await page.getByText('Deciding needs the role operator; yours is viewer.').waitFor()
    for (const button of await page.locator('.actions button, .covered button').all())
      assert.equal(await button.isDisabled(), true)
  })

  test('the chain of what was done holds, and the page says so', async (t) => {
    const page = await pageFor(t)
    if (page === undefined) return
    await signIn(page, world.url, tokens.vera, '/console/audit')
    await page.getByRole('button', { name: 'Verify the chain' }).click()
    await page.getByText(/The chain of \d+ rows holds/).waitFor()
  })
})
