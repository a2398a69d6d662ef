import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { closeBrowser, findingsOf, pageFor, signIn } from './browser.ts'
import { ConsoleWorld, tokens } from './world.ts'

describe('signing in to the console', () => {
  const world = new ConsoleWorld()
  before(() => world.start())
  after(async () => {
    await closeBrowser()
    await world.dispose()
  })

  test('a token lets its operator in, a wrong one does not, and signing out ends it for good', async (t) => {
    const page = await pageFor(t)
    if (page === undefined) return
    await page.goto(`${world.url}/console/quarantine`)
    await page.getByLabel('Operator token').fill('a token of nobody at all')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    assert.equal(await page.getByRole('alert').textContent(), 'No operator has this token.')
    assert.deepEqual(await findingsOf(page), [])
    await page.getByLabel('Operator token').fill(tokens.olga)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { name: 'Quarantine', level: 1 }).waitFor()
    assert.match((await page.locator('.who').textContent()) ?? '', /olga operator/)

    const [cookie] = await page.context().cookies()
    assert.deepEqual(
      [cookie?.httpOnly, cookie?.sameSite, cookie?.path, cookie?.domain],
      [true, 'Strict', '/', '127.0.0.1'],
    )
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor()
    assert.deepEqual(await page.context().cookies(), [])
    // Whoever kept the cookie has nothing of it.
    const kept = await fetch(`${world.url}/api/v1/quarantine`, {
      headers: { cookie: `${cookie?.name}=${cookie?.value}` },
    })
    assert.equal(kept.status, 401)
  })

  test('a session that ends while a page is open leads to the sign-in, and back to the page', async (t) => {
    const page = await pageFor(t)
    if (page === undefined) return
    await signIn(page, world.url, tokens.vera, '/console/audit')
    await page.context().clearCookies()
    await page.getByText('Your session has ended.').waitFor()
    await page.getByLabel('Operator token').fill(tokens.vera)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor()
  })
})
