import assert from 'node:assert/strict'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { publicEntries } from '../scripts/docs-site/api-reference.ts'
import { buildSite, type SitePage } from '../scripts/docs-site/build.ts'
import { brokenLinks } from '../scripts/docs-site/links.ts'
import { render } from '../scripts/docs-site/markdown.ts'
import { closeBrowser, findingsOf, pageFor } from './console/browser.ts'

const root = join(import.meta.dirname, '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

/** The cells of every row of a page's tables. */
function rowsOf(file: string): string[][] {
  const rows = read(file).match(/^\|.*\|$/gm) ?? []
  return rows.map((row) =>
    row
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  )
}

const entries = publicEntries()

describe('the site of the docs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-docs-'))
  let pages: readonly SitePage[] = []
  before(async () => {
    pages = await buildSite(folder, entries)
  })
  after(async () => {
    await closeBrowser()
    rmSync(folder, { recursive: true, force: true })
  })

  test('has every page of docs/, each in the navigation of every page', () => {
    const index = readFileSync(join(folder, 'index.html'), 'utf8')
    for (const file of globSync('**/*.md', { cwd: join(root, 'docs') })) {
      const page = pages.find((candidate) => candidate.file === file)
      assert.ok(page, file)
      assert.ok(index.includes(`href="${page.address}"`), `${file} is in the navigation`)
    }
  })

  test('asks nobody else for anything, and every file that it asks for is there', () => {
    for (const { address } of pages) {
      const html = readFileSync(join(folder, address), 'utf8')
      for (const [, source = ''] of html.matchAll(/<(?:link|script|img)[^>]*(?:href|src)="([^"]+)"/g)) {
        assert.doesNotMatch(source, /^(https?:)?\/\//, address)
        assert.ok(existsSync(join(folder, address, '..', source)), `${address}: ${source}`)
      }
    }
    assert.doesNotMatch(readFileSync(join(folder, 'style.css'), 'utf8'), /url\((?!"?(?:\.\/)?fonts\/)/)
  })

  test('links to each error code, as a problem could', () => {
    const errors = pages.find(({ file }) => file === 'errors.md')
    for (const code of ['signature_invalid', 'store_full', 'guard_fenced'])
      assert.ok(errors?.rendered.ids.has(code), code)
  })

  test('can be read and searched in light and dark, on a desk and on a phone', async (t) => {
    const page = await pageFor(t)
    if (page === undefined) return
    const at = (address: string) => `http://docs.test/${address}`
    const elsewhere: string[] = []
    await page.route(/./, async (route) => {
      const { host, pathname } = new URL(route.request().url())
      if (host === 'docs.test') return await route.fulfill({ path: join(folder, pathname) })
      elsewhere.push(host)
      await route.abort()
    })
    await page.goto(at('problem.html'))
    assert.deepEqual(await findingsOf(page), [])
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.setViewportSize({ width: 375, height: 800 })
    await page.goto(at('errors.html'))
    assert.deepEqual(await findingsOf(page), [])
    const wider = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
    assert.equal(wider, 0, 'nothing is wider than the phone')
    await page.keyboard.press('/')
    await page.keyboard.type('vault key lost')
    await page.getByRole('link', { name: /A vault key is lost/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/runbooks\.html#a-vault-key-is-lost$/)
    assert.deepEqual(elsewhere, [])
  })
})

test('a link to a page, a file or a heading that is not there is found', () => {
  const page = (file: string, markdown: string) => ({ file, rendered: render(markdown, (href) => href) })
  const pages = [
    page(
      'a.md',
      '# A\n[b](guides/b.md#the-end) [c](c.md) [d](guides/b.md#no) [e](#no) [f](../README.md) [g](x.svg)',
    ),
    page('guides/b.md', '# B\n## The end\n[a](../a.md#a) ![x](../x.svg)\n\n`[no](link.md)`'),
  ]
  const broken = ['a.md: c.md', 'a.md: guides/b.md#no', 'a.md: #no', 'a.md: x.svg', 'guides/b.md: ../x.svg']
  assert.deepEqual(brokenLinks(pages, join(root, 'docs')), broken)
})

test('two headings of one name have two anchors, as at GitHub', () => {
  const { headings } = render("# Limits\n## Limits\n## What's so: `x_y`", (href) => href)
  assert.deepEqual(
    headings.map(({ id }) => id),
    ['limits', 'limits-1', 'whats-so-x_y'],
  )
})

test('every public name has a docstring', () => {
  assert.ok(entries.some(({ specifier }) => specifier === 'counterfoil/guard'))
  const bare = entries.flatMap(({ specifier, names }) =>
    names
      .filter(({ docstring }) => docstring === '')
      .map(({ name, file }) => `${specifier}: ${name}, ${file}`),
  )
  assert.deepEqual(bare, [])
})

test('every promise and every threat names tests that are there', () => {
  const source = join(root, 'packages/counterfoil/src')
  for (const page of ['docs/promises.md', 'docs/threat-model.md', 'docs/guard.md']) {
    for (const row of read(page).matchAll(/^\| .* \|$/gm)) {
      for (const [, file = ''] of row[0].matchAll(/`([\w*/.-]+(?:\.ts|\/))`/g)) {
        const found = [root, source].flatMap((cwd) => globSync(file, { cwd }))
        assert.ok(found.length > 0, `${page}: ${file}`)
      }
    }
  }
  const promises = rowsOf('docs/promises.md').slice(2)
  assert.ok(promises.length > 30)
  for (const [promise, , tests] of promises) assert.match(tests ?? '', /`.+`/, `a test of: ${promise}`)
})

test('every error code says what it means and what to do', () => {
  const rows = rowsOf('docs/errors.md').filter(([code]) => code?.startsWith('`'))
  assert.ok(rows.length > 70)
  for (const [code, , means, todo] of rows) {
    assert.notEqual(means, '', `${code} means`)
    assert.notEqual(todo, '', `${code}: what to do`)
  }
})

test('every alert has a runbook', () => {
  const text = read('docs/runbooks.md')
  const alerts = [...read('packages/counterfoil/monitoring/alerts.yml').matchAll(/- alert: (\w+)/g)]
  assert.ok(alerts.length > 5)
  for (const [, alert] of alerts)
    assert.match(text, new RegExp(`\`${alert}\`.*\\]\\(#`), `${alert} leads to a section`)
})

test('the quick start is the one of the README, which is tried in an empty folder', () => {
  const [, tried] = /^```sh\n([\s\S]*?)^```/m.exec(read('README.md')) ?? []
  assert.ok(tried?.includes('counterfoil init'))
  assert.ok(read('docs/quick-start.md').includes(tried!))
})
