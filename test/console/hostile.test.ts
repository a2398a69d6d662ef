import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { closeBrowser, decide, pageFor, signIn } from './browser.ts'
import { ConsoleWorld, secretText, tokens } from './world.ts'

/** Each would run, or draw something, where text is taken for markup, an address or a style. */
const hostile = {
  image: '<img src=x onerror="window.harmed=1">',
  script: '</script><script>window.harmed=1</script>',
  attribute: '" autofocus onfocus="window.harmed=1" x="',
  address: 'javascript:window.harmed=1',
  svg: '<svg onload=window.harmed=1>',
  template: '\x24{window.harmed=1}{{constructor.constructor("window.harmed=1")()}}',
} as const

describe('what strangers and operators write stays text', () => {
  const world = new ConsoleWorld()
  const places: string[] = []
  before(async () => {
    await world.start()
    for (const [name, text] of Object.entries(hostile)) {
      world.fail(JSON.stringify(text).slice(1, -1), 'lost-answer')
      await world.deliver(`remind-${name}`, 'invoice.reminded', { to: text })
      await world.deliver(`${name}${text.replaceAll(/[^\x21-\x7e]|\./g, '_')}`.slice(0, 100), text, {
        id: text,
      })
      await world.deliver(`bad-${name}`, 'invoice.due', { id: text, amount: text })
    }
    await world.until(
      'all letters are unknown',
      async () => (await world.api('unknown')).unknown.length === 6,
    )
    const { quarantine } = await world.api('quarantine')
    for (const [index, text] of Object.values(hostile).entries()) {
      const entry = quarantine[index]
      const body = { assignee: text, reason: text, decision: `d-${index}`, expectedVersion: entry.version }
      await world.api(`quarantine/${entry.id}/assign`, body)
      places.push(`quarantine/${entry.id}`, `receipts/${entry.receipt}`)
    }
    for (const { effect } of (await world.api('unknown')).unknown) places.push(`effects/${effect.id}`)
    places.push(...['', 'unknown', 'effects', 'receipts', 'quarantine', 'audit', 'recipients'])
    for (const text of Object.values(hostile)) places.push(`search?q=${encodeURIComponent(text)}`)
  })
  after(async () => {
    await closeBrowser()
    await world.dispose()
  })

  test('on every page nothing that was written runs or becomes an element', async (t) => {
    const page = await pageFor(t)
    if (page === undefined) return
    await signIn(page, world.url, tokens.abe)
    for (const place of places) {
      await page.goto(`${world.url}/console/${place}`)
      await page.locator('main .live, main .empty').first().waitFor()
      const found: unknown = await page.evaluate(() => {
        const { document, harmed } = globalThis as any
        const made = document.querySelectorAll(
          'img, [onerror], [onload], [onfocus], [href^="javascript:"], body script',
        )
        return [harmed, made.length]
      })
      assert.deepEqual(found, [undefined, 0], place)
    }
  })

  test('the payload and evidence of a person are text too, and are shown to the letter', async (t) => {
    const page = await pageFor(t)
    if (page === undefined) return
    const [shown] = (await world.api('unknown')).unknown
    await signIn(page, world.url, tokens.abe, `/console/effects/${shown.effect.id}`)
    await decide(page, 'Read the request', { reason: hostile.image })
    await page.locator('.json').getByText('"to":').waitFor()
    await decide(page, 'It acted', {
      reason: hostile.script,
      evidence: hostile.image,
      correlation: hostile.svg,
    })
    await page.getByText(`decided by abe: ${hostile.image}`).first().waitFor()
    assert.equal(await page.evaluate(() => (globalThis as any).harmed), undefined)
  })

  test('no page, script or answer holds a secret', async () => {
    const paths = [
      'console/',
      'console/session',
      ...places.filter((place) => !place.includes('?')).map((place) => `api/v1/${place || 'overview'}`),
    ]
    for (const path of paths) {
      const response = await fetch(`${world.url}/${path}`, {
        headers: { authorization: `Bearer ${tokens.vera}` },
      })
      const text = await response.text()
      for (const secret of [secretText, ...Object.values(tokens)])
        assert.ok(!text.includes(secret) && !text.includes(secret.slice(6)), `${path} holds a secret`)
    }
  })
})
