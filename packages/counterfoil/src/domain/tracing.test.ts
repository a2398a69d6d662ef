import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noTracing, readTraceParent } from './tracing.ts'

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
const span = '00f067aa0ba902b7'

test('a traceparent is read as the specification says, and as nothing where it is not one', () => {
  const whole = `00-${trace}-${span}-01`
  const rows: [string | null, string | null][] = [
    [whole, whole],
    [`00-${trace}-${span}-00`, `00-${trace}-${span}-00`],
    // A later version may say more; what is known of it is passed on.
    [`cc-${trace}-${span}-01-what-the-future-says`, whole],
    [`cc-${trace}-${span}-01`, whole],
    [`cc-${trace}-${span}-01.what`, null],
    [`00-${trace}-${span}-01-more`, null],
    [`ff-${trace}-${span}-01`, null],
    [`00-${'0'.repeat(32)}-${span}-01`, null],
    [`00-${trace}-${'0'.repeat(16)}-01`, null],
    [`00-${trace.toUpperCase()}-${span}-01`, null],
    [`00-${trace}-${span}`, null],
    [`${whole}\r\nevil: 1`, null],
    [`${whole}, ${whole}`, null],
    ['', null],
    [null, null],
  ]
  for (const [header, read] of rows) assert.equal(readTraceParent(header), read, String(header))
})

test('without tracing work runs, and there is nothing to go on from', async () => {
  const about = { name: 'plan stripe', kind: 'internal', parent: null } as const
  assert.equal(await noTracing.span(about, async ({ context }) => context), null)
  await assert.rejects(
    noTracing.span(about, () => Promise.reject(new Error('as it was'))),
    /as it was/,
  )
})
