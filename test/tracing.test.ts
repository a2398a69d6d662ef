import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { DemoProcesses, github } from './processes.ts'

const processes = new DemoProcesses({ config: join(import.meta.dirname, 'fixtures/traced.config.ts') })
const heard: { readonly method: string; readonly headers: IncomingHttpHeaders }[] = []
/** Takes a ticket and never says so; who asks is told only when the test wants it. */
let tells = false
const desk = createServer((request, response) => {
  heard.push({ method: request.method ?? '', headers: request.headers })
  if (request.method === 'POST') return
  response.writeHead(tells ? 200 : 503, { 'content-type': 'application/json' }).end('{}')
})
after(async () => {
  desk.close().closeAllConnections()
  await processes.dispose()
})

interface WrittenSpan {
  readonly pid: number
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parent: string | null
  readonly attributes: Readonly<Record<string, unknown>>
  readonly status: { readonly code: number; readonly message?: string }
}

const text = () => readFileSync(join(processes.directory, 'spans.jsonl'), 'utf8')
const spans = () =>
  text()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as WrittenSpan)

async function state(): Promise<string | undefined> {
  const { effects } = await processes.counterfoil<{ effects: { state: string }[] }>('effects', 'list')
  return effects[0]?.state
}

async function until(wanted: string): Promise<void> {
  while ((await state()) !== wanted) await new Promise((resolve) => setTimeout(resolve, 100))
}

test('a delivery, its plan, an attempt that times out, and the lookup of the next process are one trace', async () => {
  await new Promise<void>((resolve) => desk.listen(0, '127.0.0.1', resolve))
  processes.environment.COUNTERFOIL_DEMO_RECIPIENT = `http://127.0.0.1:${(desk.address() as AddressInfo).port}`
  await processes.startServer()
  const first = processes.server.pid
  const sent = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
  const request = github('issues', 'delivery-1', { number: 1, title: 'olga@example.com' })
  const headers = { ...request.headers, traceparent: `00-${sent.traceId}-${sent.spanId}-01` }
  const answer = await fetch(`${processes.url}/in/github`, { ...request, headers })
  assert.equal(answer.status, 202)
  const { receipt } = (await answer.json()) as { receipt: string }
  await until('unknown')
  await processes.killServer('SIGKILL')
  tells = true
  await processes.startServer()
  await until('confirmed')

  const all = spans()
  assert.deepEqual(new Set(all.map(({ traceId }) => traceId)), new Set([sent.traceId]))
  const one = (name: string) => {
    const found = all.filter((span) => span.name === name)
    assert.equal(found.length, 1, `${found.length} spans are named ${name}`)
    return found[0]!
  }
  const arrival = one('POST /in/github')
  const accepted = one('accept github')
  const planned = one('plan github')
  const attempt = one('attempt ticket.open')
  const post = one('POST')
  assert.deepEqual(
    [arrival, accepted, planned, attempt, post].map(({ kind, parent }) => [kind, parent]),
    [
      [1, sent.spanId],
      [3, arrival.spanId],
      [4, accepted.spanId],
      [0, planned.spanId],
      [2, attempt.spanId],
    ],
  )
  assert.equal(arrival.attributes['http.response.status_code'], 202)
  assert.equal(accepted.attributes['counterfoil.receipt'], receipt)
  assert.equal(planned.attributes['messaging.message.id'], receipt)
  assert.equal(attempt.attributes['counterfoil.outcome'], 'unknown')
  assert.deepEqual([post.status.code, post.attributes['error.type']], [2, 'unclear'])

  const told = all.find(
    ({ name, attributes }) =>
      name === 'settle ticket.open' && attributes['counterfoil.state'] === 'confirmed',
  )
  const lookup = all.find(({ spanId }) => spanId === told?.parent)
  assert.ok(lookup !== undefined)
  assert.deepEqual([lookup.name, lookup.parent], ['lookup ticket.open', planned.spanId])
  assert.equal(attempt.pid, first)
  assert.equal(lookup.pid, processes.server.pid)
  const unclear = all.find(({ name, parent }) => name === 'settle ticket.open' && parent === attempt.spanId)
  assert.equal(unclear?.attributes['counterfoil.state'], 'unknown')

  // Each request names the span that it is.
  const clients = all.filter(({ kind }) => kind === 2)
  const named = heard.map(({ headers }) => headers.traceparent)
  for (const { spanId } of clients) assert.ok(named.includes(`00-${sent.traceId}-${spanId}-01`))
  assert.equal(heard.filter(({ method }) => method === 'POST').length, 1)
  for (const secret of ['olga', 'the-desk-credential', 'Secret to Everybody', 'issue/1']) {
    assert.ok(!text().includes(secret), `spans hold ${secret}`)
  }
})
