import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { closeBrowser, findingsOf, lookAt, pageFor, signIn } from './browser.ts'
import { badNight } from './scenario.ts'
import { ConsoleWorld, tokens } from './world.ts'

describe('the pages of the console', () => {
  const world = new ConsoleWorld()
  let places: readonly (readonly [path: string, heading: string, shows: RegExp])[]
  before(async () => {
    await world.start()
    await badNight(world)
    const one = async (name: string) => (await world.api(`search?q=${name}`)).effects[0].id
    const [entry] = (await world.api('quarantine')).quarantine
    await world.api(`quarantine/${entry.id}/assign`, {
      assignee: 'olga',
      reason: 'mine',
      decision: 'd-1',
      expectedVersion: 1,
    })
    const receipt = (await world.api('search?q=inv-481')).receipts[0].id
    places = [
      ['/', 'Overview', /To look at: 2 effects of unknown outcome, 6 deliveries in quarantine/],
      ['/unknown', 'Unknown', /letter\/ann@example\.com/],
      ['/effects', 'Effects', /invoice\/481\/collect\/revision\/1/],
      [`/effects/${await one('invoice/481')}`, 'Effect', /Yes: billing has done it/],
      [`/effects/${await one('letter/ann')}`, 'Effect', /Nobody knows yet: letters may have acted/],
      ['/receipts', 'Receipts', /inv-470/],
      [
        `/receipts/${receipt}`,
        'Receipt',
        /It came 2 times; the copies were acknowledged and changed nothing/,
      ],
      ['/quarantine', 'Quarantine', /effect-conflict/],
      [`/quarantine/${entry.id}`, 'Quarantine entry', /This delivery waits: nothing was done for it/],
      ['/recipients', 'Recipients', /After an unknown outcome nothing is ever sent again/],
      ['/backfills', 'Backfills', /No backfill was planned/],
      ['/retention', 'Retention', /Nothing is ever removed/],
      ['/audit', 'Audit', /quarantine\.assign/],
      ['/search?q=inv-47', 'Search: inv-47', /inv-475/],
    ]
  })
  after(async () => {
    await closeBrowser()
    await world.dispose()
  })

  test('each shows what it is for, in light and dark without an accessibility finding, and fits a phone', async (t) => {
    const page = await pageFor(t)
    if (page === undefined) return
    await signIn(page, world.url, tokens.abe)
    for (const [path, heading, shows] of places) {
      await page.goto(`${world.url}/console${path}`)
      await page.getByRole('heading', { name: heading, level: 1, exact: true }).waitFor()
      await page.locator('.live').waitFor()
      await page.locator('main').getByText(shows).filter({ visible: true }).first().waitFor()
      assert.equal(await page.title(), `${heading} · Counterfoil`)
      await lookAt(page, path)
    }
  })

  test('the first load is smaller than 100 kB, fonts and all', async (t) => {
    const page = await pageFor(t)
    if (page === undefined) return
    const network = await page.context().newCDPSession(page)
    await network.send('Network.enable')
    const files = new Set<string>()
    network.on('Network.responseReceived', ({ requestId, response }) => {
      if (response.url.startsWith(`${world.url}/console/`)) files.add(requestId)
    })
    let bytes = 0
    network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      if (files.has(requestId)) bytes += encodedDataLength
    })
    await signIn(page, world.url, tokens.vera)
    await page.getByText('deliveries in quarantine').waitFor()
    await page.evaluate(() => (globalThis as any).document.fonts.ready)
    assert.ok(bytes > 20_000, `only ${bytes} bytes were seen`)
    assert.ok(bytes < 100_000, `${bytes} bytes were loaded`)
  })

  test('the keyboard alone leads everywhere', async (t) => {
    const page = await pageFor(t)
    if (page === undefined) return
    await signIn(page, world.url, tokens.vera)
    const heading = (name: string) => page.getByRole('heading', { name, level: 1, exact: true }).waitFor()
    await heading('Overview')
    await page.keyboard.press('g')
    await page.keyboard.press('q')
    await heading('Quarantine')
    await page.locator('[data-row]').first().waitFor()
    const focused = () => page.evaluate(() => (globalThis as any).document.activeElement.textContent)
    const rows = await page.locator('[data-row]').allTextContents()
    for (const [key, row] of [
      ['j', 0],
      ['j', 1],
      ['j', 2],
      ['k', 1],
    ] as const) {
      await page.keyboard.press(key)
      assert.equal(await focused(), rows[row])
    }
    await page.keyboard.press('Enter')
    await heading('Quarantine entry')
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
    assert.deepEqual(await findingsOf(page), [])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('/')
    await page.keyboard.type('invoice/481')
    await page.keyboard.press('Enter')
    await heading('Search: invoice/481')
    await page.getByRole('link', { name: 'invoice/481/collect/revision/1' }).waitFor()
  })

  test('a page follows what happens while it is looked at, and says when the server is gone', async (t) => {
    const page = await pageFor(t)
    if (page === undefined) return
    await signIn(page, world.url, tokens.vera, '/console/receipts')
    await page.getByRole('link', { name: /inv-480-again/ }).waitFor()
    await world.deliver('inv-live', 'invoice.due', { id: 'live', amount: 1 })
    await page.getByRole('link', { name: /inv-live/ }).waitFor()
    await page.route('**/api/v1/**', (route) => route.abort())
    await page.getByText(/The server does not answer/).waitFor()
    await page.getByText(/^stale/).waitFor()
    await page.getByRole('link', { name: /inv-live/ }).waitFor()
  })
})
