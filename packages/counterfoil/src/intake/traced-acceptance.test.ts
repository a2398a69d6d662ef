import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SpanAbout, TraceParent, Tracing } from '../domain/index.ts'
import { delivery } from '../store/conformance/given.ts'
import type { Accepted } from '../store/index.ts'
import type { Interpreted } from './interpret.ts'
import { acceptAllTraced } from './traced-acceptance.ts'

const arrival = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' as TraceParent

/** Spans that were begun, each with the context that it gave. */
function recorder() {
  const spans: { about: SpanAbout; context: TraceParent; ended: boolean }[] = []
  const tracing: Tracing = {
    async span(about, work) {
      const trace = String(spans.length + 1).padStart(32, '0')
      const span = { about, context: `00-${trace}-00f067aa0ba902b7-01` as TraceParent, ended: false }
      spans.push(span)
      try {
        return await work({ context: span.context, set() {}, failed() {} })
      } finally {
        span.ended = true
      }
    },
  }
  return { spans, tracing }
}

function events(count: number): Interpreted[] {
  return Array.from({ length: count }, () => ({ receipt: delivery().receipt }) as Interpreted)
}

async function accept(all: readonly Interpreted[]): Promise<Accepted[]> {
  return all.map(({ receipt }) => ({ outcome: 'duplicate', receipt: receipt.id }))
}

test('each of many that came together has a trace of its own, linked to their delivery, and its receipt names it', async () => {
  const { spans, tracing } = recorder()
  const written: (TraceParent | null)[] = []
  const given = events(3)
  const accepted = await acceptAllTraced(tracing, given, arrival, async (all) => {
    written.push(...all.map(({ receipt }) => receipt.trace))
    return await accept(all)
  })
  assert.deepEqual(
    accepted.map(({ receipt }) => receipt),
    given.map(({ receipt }) => receipt.id),
  )
  assert.deepEqual(
    spans.map(({ about: { parent, links } }) => ({ parent, links })),
    given.map(() => ({ parent: null, links: [arrival] })),
  )
  assert.deepEqual(
    written,
    spans.map(({ context }) => context),
  )
  assert.ok(spans.every(({ ended }) => ended))
})

test('one that came alone goes on from its delivery', async () => {
  const { spans, tracing } = recorder()
  await acceptAllTraced(tracing, events(1), arrival, accept)
  assert.deepEqual(
    spans.map(({ about }) => about.parent),
    [arrival],
  )
})

test('when nothing was committed every span ends with that', async () => {
  const { spans, tracing } = recorder()
  const refuse = () => Promise.reject(new Error('the disk is full'))
  await assert.rejects(acceptAllTraced(tracing, events(2), arrival, refuse), /the disk is full/)
  assert.deepEqual(
    spans.map(({ ended }) => ended),
    [true, true],
  )
})
