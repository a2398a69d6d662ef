import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { closeBrowser, decide, findingsOf, pageFor, signIn } from './browser.ts'
import { ConsoleWorld, tokens } from './world.ts'

const day = 86_400_000
const none = { count: 0, first: [] }
const counts = { new: 9_120, duplicate: 877, malformed: 3 }
const planned = {
  name: 'november',
  state: 'planned',
  plan: {
    producer: 'payments',
    source: { kind: 'file', path: 'november.jsonl' },
    at: 1_790_000_000_000,
    by: 'olga',
    digest: 'the-digest-of-the-plan',
    items: 10_000,
    counts,
    faults: { count: 3, first: [{ place: 'line 17', why: 'no JSON' }] },
    gaps: { lacking: { count: 9_120, first: ['evt_1'] }, unlisted: none, holes: null, from: null, to: null },
  },
  run: { approval: null, rate: null, items: 0, counts: {}, begunAt: null, endedAt: null, halted: null },
  progress: { leftMs: null },
}
const horizons = {
  combinations: [
    {
      producer: 'payments',
      recipient: 'billing',
      producerMs: 30 * day,
      queueMs: 7 * day,
      recipientMs: day,
      operatorMs: 30 * day,
    },
  ],
  audit: { ms: 400 * day },
  needed: { ms: 400 * day, why: 'the audit horizon' },
  periods: { payloadMs: 30 * day, evidenceMs: 400 * day, boundaryMs: null },
}

/** The pages of backfills and retention, over answers of the operator interface as it documents them. */
describe('long work at the console', () => {
  const world = new ConsoleWorld({ configure: { retention: {} } })
  before(() => world.start())
  after(async () => {
    await closeBrowser()
    await world.dispose()
  })
  /** Answers a path, and keeps what was sent there. */
  const answering = async (page: Page, path: string, answer: () => object) => {
    const sent: any[] = []
    await page.route(`**/api/v1/${path}`, async (route) => {
      if (route.request().method() === 'POST') sent.push(route.request().postDataJSON())
      await route.fulfill({ json: answer() })
    })
    return sent
  }

  test('a backfill is approved for its digest, run at a rate, and followed until it is done', async (t) => {
    const page = await pageFor(t)
    if (page === undefined) return
    let backfill: Record<string, unknown> = planned
    await answering(page, 'backfills', () => ({ backfills: [backfill], configured: ['november'] }))
    await answering(page, 'backfills/november', () => ({ backfill }))
    const approved = await answering(page, 'backfills/november/approve', () => {
      backfill = {
        ...backfill,
        state: 'approved',
        run: { ...planned.run, approval: { by: 'abe', reason: 'the outage' } },
      }
      return { repeated: false, backfill }
    })
    const run = await answering(page, 'backfills/november/run', () => {
      backfill = {
        ...backfill,
        state: 'running',
        run: { ...planned.run, rate: 200, items: 4_000, counts: { new: 3_600 } },
        progress: { leftMs: 31_000 },
      }
      return { repeated: false, backfill }
    })
    await signIn(page, world.url, tokens.abe, '/console/backfills')
    await page.getByRole('link', { name: 'november' }).click()
    await page.getByText('Planned: nothing is taken in until somebody approves it.').waitFor()
    await page.getByText('line 17: no JSON').waitFor()
    assert.deepEqual(await findingsOf(page), [])

    await page.getByRole('button', { name: 'Approve …' }).click()
    await page.getByLabel(/3 items cannot be read and are left out/).check()
    await page.getByRole('textbox', { name: 'Reason' }).fill('the outage')
    await page.getByRole('button', { name: 'Approve', exact: true }).click()
    await page.getByText('Approved by abe: it can be run.').waitFor()
    assert.deepEqual(
      [approved[0].digest, approved[0].acceptMalformed, approved[0].reason],
      ['the-digest-of-the-plan', true, 'the outage'],
    )
    await page.getByRole('button', { name: 'Run …' }).click()
    await page.getByLabel('Items a second, at most').fill('200')
    await page.getByRole('textbox', { name: 'Reason' }).fill('at night')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText('40 %, 31 s left').waitFor()
    assert.equal(run[0].rate, 200)
    backfill = {
      ...backfill,
      state: 'done',
      run: { ...planned.run, items: 10_000, counts, endedAt: 1_790_000_100_000 },
      progress: { leftMs: null },
    }
    await page.getByText('Done: all 10,000 items were taken in.').waitFor()
    assert.equal(run.length, 1)
  })

  test('retention is drawn, and applied until nothing is left to do', async (t) => {
    const page = await pageFor(t)
    if (page === undefined) return
    const steps = [{ step: 'payloads', count: 1_200, bytes: 9_000, whole: true }]
    await answering(page, 'retention', () => ({ horizons, plan: { state: 'done', steps, boundary: null } }))
    let asked = 0
    const applied = await answering(page, 'retention/apply', () => ({
      state: ++asked < 3 ? 'more' : 'done',
      steps,
      boundary: null,
    }))
    await signIn(page, world.url, tokens.abe, '/console/retention')
    await page.getByText('Evidence is kept for 400 d; at least 400 d are needed.').waitFor()
    await page.getByRole('img', { name: /the longest is 400 d, evidence is kept for 400 d/ }).waitFor()
    assert.deepEqual(await findingsOf(page), [])
    await decide(page, 'Apply', { reason: 'monthly' })
    await page.getByText('Done: 1200 payloads.').waitFor()
    assert.equal(applied.length, 3)
    assert.equal(new Set(applied.map(({ decision }) => decision)).size, 1)
  })

  test('retention as this server computes it is drawn, and applying it is in the audit log', async (t) => {
    const page = await pageFor(t)
    if (page === undefined) return
    await signIn(page, world.url, tokens.abe, '/console/retention')
    await page.getByText('Evidence is kept for 400 d; at least 400 d are needed.').waitFor()
    await page
      .getByRole('img', { name: /the longest is 400 d/ })
      .getByText('payments → billing')
      .waitFor()
    await decide(page, 'Apply', { reason: 'monthly' })
    await page.getByText(/^Done: 0 payloads/).waitFor()
    const { audit } = await world.api('audit')
    assert.deepEqual(audit.map(({ act, operator, reason }: any) => [act, operator, reason]).at(-1), [
      'retention.apply',
      'abe',
      'monthly',
    ])
  })
})
