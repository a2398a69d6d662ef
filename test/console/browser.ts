import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { chromium } from 'playwright-core'
import { debianProgram } from '../../packages/counterfoil/src/testing/debian-program.ts'
import { skipLoudly } from '../../packages/counterfoil/src/testing/skip.ts'

const desk = { width: 1280, height: 800 }
const phone = { width: 360, height: 740 }

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
]

/** A real Chromium: the system's, else the one that npm has. Undefined where neither runs. */
async function launch(): Promise<Browser | undefined> {
  const installed = process.env.COUNTERFOIL_TEST_CHROMIUM ?? debianProgram('chromium', 'chromium')
  if (installed !== undefined) return await chromium.launch({ executablePath: installed, args: flags })
  try {
    const { default: packed } = await import('@sparticuz/chromium')
    const args = packed.args.filter((flag) => !/single-process|zygote/.test(flag))
    return await chromium.launch({ executablePath: await packed.executablePath(), args })
  } catch {
    return undefined
  }
}

let launched: Promise<Browser | undefined> | undefined

/** A page in a browser of its own, whose errors fail the test. Undefined when no browser can be had. */
export async function pageFor(
  t: TestContext,
  options: BrowserContextOptions = {},
): Promise<Page | undefined> {
  launched ??= launch()
  const browser = await launched
  if (browser === undefined) {
    skipLoudly(t, 'there is no Chromium: install it, or name one in COUNTERFOIL_TEST_CHROMIUM')
    return undefined
  }
  const context: BrowserContext = await browser.newContext({
    viewport: desk,
    ...options,
  })
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (message) => {
    // What the server refuses is told there too; that is no fault of the page.
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text()))
      errors.push(message.text())
  })
  t.after(async () => {
    await context.close()
    assert.deepEqual(errors, [], 'the page reports no error')
  })
  return page
}

export async function closeBrowser(): Promise<void> {
  await (await launched)?.close()
}

export async function signIn(page: Page, url: string, token: string, path = '/console/'): Promise<void> {
  await page.goto(`${url}${path}`)
  await page.getByLabel('Operator token').fill(token)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * What an automated check finds against WCAG 2.2 A and AA: rule, and the first element that breaks it.
 *
 * @param about `colours`: only what differs between light and dark
 */
export async function findingsOf(page: Page, about: 'all' | 'colours' = 'all'): Promise<string[]> {
  await page.evaluate(axe)
  return await page.evaluate(async (what) => {
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
    const runOnly =
      what === 'all' ? { type: 'tag', values: tags } : { type: 'rule', values: ['color-contrast'] }
    const { axe, document } = globalThis as any
    const { violations } = await axe.run(document, { runOnly, resultTypes: ['violations'] })
    return violations
      .filter(({ impact }: any) => impact !== 'minor')
      .map(({ id, nodes }: any) => `${id}: ${nodes[0].html.slice(0, 150)} ${nodes[0].failureSummary}`)
  }, about)
}

/**
 * A page as it is now: nothing in it that an accessibility check finds, in light and in dark, and no wider than a phone.
 * COUNTERFOIL_TEST_SCREENSHOTS names a directory for what a person should see.
 */
export async function lookAt(page: Page, name: string): Promise<void> {
  assert.deepEqual(await findingsOf(page), [], `${name} in light`)
  await picture(page, name)
  await page.emulateMedia({ colorScheme: 'dark' })
  assert.deepEqual(await findingsOf(page, 'colours'), [], `${name} in dark`)
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(phone)
  const { wide, shown } = await page.evaluate(() => {
    const { document, innerWidth } = globalThis as any
    return { wide: document.documentElement.scrollWidth, shown: innerWidth }
  })
  assert.ok(wide <= shown, `${name} is ${wide} px wide on a phone of ${shown}`)
  await picture(page, `${name}, phone`)
  await page.setViewportSize(desk)
}

async function picture(page: Page, name: string): Promise<void> {
  const { COUNTERFOIL_TEST_SCREENSHOTS: directory } = process.env
  if (directory === undefined) return
  mkdirSync(directory, { recursive: true })
  await page.screenshot({
    path: join(directory, `${name.replaceAll(/[^\w, -]+/g, '_')}.png`),
    fullPage: true,
  })
}

interface Said {
  readonly reason: string
  readonly evidence?: string
  readonly correlation?: string
  /** What its further fields get, by their labels; true: a box is ticked. */
  readonly fields?: Readonly<Record<string, string | true>>
}

/** Acts whose dialog was checked for accessibility. */
const checked = new Set<string>()

/**
 * Presses a decision's button, fills what its dialog asks for, and presses the button that decides. When the engine
 * has moved the effect meanwhile, does what a person does: looks again and decides on what is there now.
 */
export async function decide(page: Page, act: string, said: Said): Promise<void> {
  for (let looks = 1; ; looks++) {
    await page.getByRole('button', { name: `${act} …`, exact: true }).click()
    const dialog = page.getByRole('dialog')
    await fill(dialog, said)
    if (!checked.has(act)) assert.deepEqual(await findingsOf(page), [], `the dialog of '${act}'`)
    checked.add(act)
    await dialog.locator('button[type=submit]').click()
    const decided = dialog.waitFor({ state: 'detached' }).then(() => true)
    const stale = dialog.getByRole('alert').getByText('decision_stale').waitFor()
    const late = stale.then(() => false).catch(() => decided)
    if (await Promise.race([decided, late])) return
    decided.catch(() => {})
    if (looks === 20) throw new Error(`'${act}' was always late`)
    await page.reload()
  }
}

async function fill(dialog: Locator, said: Said): Promise<void> {
  const { reason, evidence, correlation, fields = {} } = said
  for (const [label, value] of Object.entries(fields)) {
    const field = dialog.getByLabel(label)
    await (value === true ? field.check() : field.fill(value))
  }
  if (evidence !== undefined) await dialog.getByLabel('Evidence').fill(evidence)
  if (correlation !== undefined) await dialog.getByLabel(/recipient's id/).fill(correlation)
  await dialog.getByLabel('Reason').fill(reason)
}
