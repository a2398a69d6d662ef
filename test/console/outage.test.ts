import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { KeyedRecipient } from '../fixtures/keyed-recipient.ts'
import { DemoProcesses } from '../processes.ts'
import { closeBrowser, decide, lookAt, pageFor, signIn } from './browser.ts'
import { tokens } from './world.ts'

const secret = Buffer.from('a secret that only tests know 123')
/** Lines of the vendor's export, by what becomes of them: 10,000 in all. */
const source = {
  new: 9_700,
  duplicate: 150,
  conflicting: 50,
  unsupported: 60,
  schemaFailure: 35,
  malformed: 5,
} as const
/** What live traffic brought before: some of the source, and some that the source holds with other content. */
const known = source.duplicate - 50 + source.conflicting

/** Somebody whose program was down for a week, with the vendor's export of that week in hand, and a server that dies. */
describe('an operator after an outage', () => {
  const recipient = new KeyedRecipient()
  const processes = new DemoProcesses({
    config: join(import.meta.dirname, '../fixtures/outage.config.ts'),
    environment: {
      OUTAGE_SECRET: `whsec_${secret.toString('base64')}`,
      COUNTERFOIL_OPERATORS: `olga:operator:${tokens.olga},abe:approver:${tokens.abe}`,
    },
  })
  before(async () => {
    await recipient.start()
    processes.environment.COUNTERFOIL_DEMO_RECIPIENT = recipient.url
    writeFileSync(join(processes.directory, 'outage.jsonl'), exported())
    await processes.startServer()
    for (let first = 0; first < known; first += 25) {
      await Promise.all(Array.from({ length: 25 }, (_, index) => deliver(processes.url, first + index)))
    }
  })
  after(async () => {
    await closeBrowser()
    await processes.dispose()
    await recipient.stop()
  })

  test('runs a backfill of 10,000 through a crash, and can tell to the last one what became of them', async (t) => {
    const page = await pageFor(t)
    if (page === undefined) return
    await signIn(page, processes.url, tokens.olga, '/console/backfills')
    await page.getByText('outage is configured and not planned yet.').waitFor()
    await page.getByRole('button', { name: 'Look through it' }).click()
    await page.getByRole('link', { name: 'outage' }).waitFor()
    await lookAt(page, 'the backfills')
    await page.getByRole('link', { name: 'outage' }).click()
    await page.getByText('Planned: nothing is taken in until somebody approves it.').waitFor()
    assert.deepEqual(await figures(page), ofBoth(source, {}))
    // Those that fit no trigger too: they have no receipt either.
    await page.getByText('9,795 events of the source have no receipt yet').waitFor()
    await page.getByText('Deciding needs the role approver; yours is operator.').waitFor()
    await lookAt(page, 'a planned backfill')

    await page.getByRole('button', { name: 'Sign out' }).click()
    await signIn(page, processes.url, tokens.abe, '/console/backfills/outage')
    const leavesOut = { '5 items cannot be read and are left out': true } as const
    await decide(page, 'Approve', { reason: 'the outage of last week', fields: leavesOut })
    await page.getByText('Approved by abe: it can be run.').waitFor()
    const rate = (value: string) => ({ 'Items a second, at most': value })
    await decide(page, 'Run', { reason: 'billing takes that much', fields: rate('1000') })
    await page.getByText('It is being taken in, behind live traffic.').waitFor()

    const before = await takenIn(page, 1_000)
    await processes.killServer('SIGKILL')
    await page.getByText(/The server does not answer/).waitFor()
    await lookAt(page, 'a backfill whose server is gone')
    await processes.startServer()
    await page.getByText('Your session has ended.').waitFor()
    await page.getByLabel('Operator token').fill(tokens.abe)
    await page.keyboard.press('Enter')
    await page.getByText('It is being taken in, behind live traffic.').waitFor()
    await takenIn(page, before + 500)
    await page.getByText(/\d+ %, .* left/).waitFor()
    await lookAt(page, 'a backfill that goes on')

    await decide(page, 'Pause', { reason: 'billing asks how much is to come' })
    await page.getByText('Paused: nothing more is taken in until somebody resumes it.').waitFor()
    await lookAt(page, 'a paused backfill')
    await decide(page, 'Resume', { reason: 'they take all of it', fields: rate('') })
    await page.getByText('Done: all 10,000 items were taken in.').waitFor()
    assert.deepEqual(await figures(page), ofBoth(source, source))
    await lookAt(page, 'a backfill that is done')

    await collected(known + source.new)
    const invoices = recipient.acts.map(({ body }) => body.invoice as number)
    assert.equal(invoices.length, known + source.new)
    assert.equal(new Set(invoices).size, known + source.new)
    await page.goto(`${processes.url}/console/search?q=new-77`)
    await page.getByRole('link', { name: /new-77$/ }).click()
    await page.getByText('Accepted and planned: it caused one effect.').waitFor()
    await page
      .getByText('Its signature was not checked: the approval of backfill/outage stands for it')
      .waitFor()
    await lookAt(page, 'a backfilled receipt')
    await page.getByRole('link', { name: 'Audit' }).click()
    const acts = page.getByText(/^backfill\.(approve|run|pause|resume)$/).filter({ visible: true })
    await acts.nth(3).waitFor()
    assert.equal(await acts.count(), 4)
  })

  async function collected(wanted: number): Promise<void> {
    for (let looks = 0; recipient.acts.length < wanted; looks++) {
      assert.ok(
        looks < 1_200,
        `only ${recipient.acts.length} of ${wanted} invoices were collected in a minute`,
      )
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
})

/** What the page says was taken in, once it is that many. */
async function takenIn(page: Page, wanted: number): Promise<number> {
  for (;;) {
    const text = await page.getByRole('region', { name: 'Answer' }).textContent()
    const items = Number(/([\d,]+) of 10,000 items/.exec(text ?? '')?.[1]?.replaceAll(',', ''))
    if (items >= wanted) return items
    await page.waitForTimeout(50)
  }
}

async function figures(page: Page): Promise<Record<string, readonly string[]>> {
  const rows = await page.locator('table.counted tbody tr').all()
  const texts = await Promise.all(rows.map((row) => row.locator('th, td').allTextContents()))
  return Object.fromEntries(texts.map(([name = '', ...of]) => [name, of]))
}

function ofBoth(planned: Partial<typeof source>, taken: Partial<typeof source>) {
  const names = Object.keys(planned) as (keyof typeof source)[]
  const shown = (count = 0) => count.toLocaleString('en')
  return Object.fromEntries(names.map((name) => [name, [shown(planned[name]), shown(taken[name])]]))
}

async function deliver(url: string, number: number): Promise<void> {
  const id = `old-${number}`
  const body = JSON.stringify(due(number))
  const at = Math.floor(Date.now() / 1000)
  const signature = createHmac('sha256', secret).update(`${id}.${at}.${body}`).digest('base64')
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(at),
    'webhook-signature': `v1,${signature}`,
  }
  const { status } = await fetch(`${url}/in/payments`, { method: 'POST', headers, body })
  assert.equal(status, 202)
}

function due(id: unknown, type = 'invoice.due') {
  return { type, timestamp: '2026-11-24T03:00:00Z', data: { id } }
}

function exported(): string {
  const line = (id: string, payload: unknown) => JSON.stringify({ headers: { 'webhook-id': id }, payload })
  const each = (count: number, make: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => make(index))
  const lines = [
    // 100 that live traffic brought, and 50 that stand in the export twice.
    ...each(source.duplicate - 50, (index) => line(`old-${index}`, due(index))),
    ...each(50, (index) => line(`new-${index}`, due(1_000 + index))),
    ...each(source.conflicting, (index) => line(`old-${source.duplicate - 50 + index}`, due(-index))),
    ...each(source.new, (index) => line(`new-${index}`, due(1_000 + index))),
    ...each(source.unsupported, (index) => line(`odd-${index}`, due(index, 'invoice.odd'))),
    ...each(source.schemaFailure, (index) => line(`unfit-${index}`, due(`number ${index}`))),
    ...each(source.malformed, () => '{"headers":'),
  ]
  // Mixed, the same way each time.
  const mixed = lines.map((text, index) => ({ text, place: (index * 7_919) % lines.length }))
  return mixed.sort((a, b) => a.place - b.place).reduce((all, { text }) => `${all}${text}\n`, '')
}
