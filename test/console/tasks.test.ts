import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { closeBrowser, decide, pageFor, signIn } from './browser.ts'
import { badNight } from './scenario.ts'
import { ConsoleWorld, tokens } from './world.ts'

/** What somebody who opens the console for the first time, at night, has to find out and to do: by what is written there. */
describe('an operator at three in the morning', () => {
  const world = new ConsoleWorld()
  before(async () => {
    await world.start()
    await badNight(world)
  })
  after(async () => {
    await closeBrowser()
    await world.dispose()
  })

  test('finds out why invoice 481 was collected twice in the log and once at the recipient', async (t) => {
    const page = await pageFor(t)
    if (page === undefined) return
    await signIn(page, world.url, tokens.olga)
    await page.getByPlaceholder(/Id, effect key/).fill('invoice/481')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'invoice/481/collect/revision/1' }).click()
    const answer = page.getByRole('region', { name: 'Answer' })
    await answer.getByText('Yes: billing has done it.').waitFor()
    await answer.getByText(/We know by the answer to attempt 2 \(HTTP 200\)/).waitFor()
    await answer
      .getByText(
        /sent 2 times, always the same bytes under the same key, so a log shows it 2 times: attempt 1 ended unknown/,
      )
      .waitFor()
    const lines = await page.locator('.story-kind').allTextContents()
    assert.deepEqual(lines, ['receipt', 'planned', 'attempt', 'answer', 'attempt', 'answer'])
    await page.getByRole('link', { name: 'invoice.due' }).click()
    await page.getByText(/It came 2 times; the copies were acknowledged and changed nothing/).waitFor()
    assert.equal(world.recipients.acts.filter(({ body }) => body.includes('"481"')).length, 1)
  })

  test('resolves an unknown from the first page on', async (t) => {
    const page = await pageFor(t)
    if (page === undefined) return
    await signIn(page, world.url, tokens.olga)
    await page.getByText(/2 effects of unknown outcome/).waitFor()
    await page
      .getByRole('navigation', { name: 'Pages' })
      .getByRole('link', { name: /Unknown/ })
      .click()
    const card = page.locator('.card', { hasText: 'letter/ann@example.com' })
    await card.getByText('Its contract offers no lookup: the recipient cannot be asked.').waitFor()
    await card.getByRole('button', { name: 'It acted …' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Evidence').fill('ann has the letter')
    await dialog.getByLabel('Reason').fill('she called')
    await dialog.getByRole('button', { name: 'It acted', exact: true }).click()
    await page.getByText('Decided: it is confirmed now.').waitFor()
    await card.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'letter/bob@example.com' }).waitFor()
  })

  test('lets quarantine start work once its code is there, and keeps what does not fit', async (t) => {
    const page = await pageFor(t)
    if (page === undefined) return
    await world.deploy()
    await signIn(page, world.url, tokens.abe)
    await page
      .getByRole('navigation', { name: 'Pages' })
      .getByRole('link', { name: /Quarantine/ })
      .click()
    await page.getByLabel('Type').fill('seat.ordered')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: /seat-1/ }).waitFor()
    await page.getByRole('button', { name: 'Decide on all that match' }).click()
    await page.getByText('3 entries would be decided on').waitFor()
    await page.getByRole('textbox', { name: 'Reason' }).fill('handled since version 2')
    await page.getByRole('button', { name: 'Reprocess them' }).click()
    await page.getByText('Done: 3 released').waitFor()
    await page.getByLabel('Type').fill('invoice.due')
    await page.getByLabel('State').selectOption('waiting')
    await page.getByRole('link', { name: /inv-bad/ }).click()
    await decide(page, 'Reprocess', { reason: 'perhaps it fits now' })
    await page.getByText('It still cannot start work; the note below says why.').waitFor()
    await page.locator('.notes').getByText('schema-failure').waitFor()
  })
})
