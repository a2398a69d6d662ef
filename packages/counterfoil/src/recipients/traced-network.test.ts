import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Contract, noTracing, type Span, type TraceParent, type Tracing } from '../domain/index.ts'
import type { NetworkRequest } from './network.ts'
import { recipient } from './recipient.ts'
import { tracedNetwork } from './traced-network.ts'

const context = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' as TraceParent
const plain: NetworkRequest = {
  url: new URL('https://desk.test/tickets?name=olga'),
  method: 'POST',
  headers: { 'idempotency-key': 'k' },
  body: Buffer.from('{}'),
  timeoutMs: 1,
  maxAnswerBytes: 1,
  allowPrivateAddresses: false,
}

async function sent(contract: Contract, request = plain, tracing?: Tracing) {
  const told: unknown[] = []
  const span: Span = {
    context,
    set: (attributes) => void told.push(attributes),
    failed: (type) => void told.push(type),
  }
  const recording: Tracing = {
    span(about, work) {
      told.push(about.attributes)
      return work(span)
    },
  }
  const requests: NetworkRequest[] = []
  const send = async (one: NetworkRequest) => {
    requests.push(one)
    return { kind: 'answered' as const, status: 503, headers: {}, body: new Uint8Array() }
  }
  const desk = recipient('desk', { url: 'https://desk.test', contract })
  const network = tracedNetwork({ send }, tracing ?? recording, { parent: null, recipient: desk, resent: 1 })
  await network.send(request, new AbortController().signal)
  return { request: requests[0]!, told }
}

test('a request carries its span, and is otherwise as it was; path and query are not told', async () => {
  const { request, told } = await sent({})
  assert.deepEqual(request, { ...plain, headers: { ...plain.headers, traceparent: context } })
  assert.deepEqual(told, [
    {
      'http.request.method': 'POST',
      'server.address': 'desk.test',
      'server.port': 443,
      'url.scheme': 'https',
      'http.request.resend_count': 1,
    },
    { 'http.response.status_code': 503 },
    '503',
  ])
})

test('not where the contract forbids it, where the effect sends its own, or where nothing is traced', async () => {
  assert.equal((await sent({ traceparent: false })).request.headers.traceparent, undefined)
  const own = { ...plain, headers: { traceparent: 'its own' } }
  assert.equal((await sent({}, own)).request.headers.traceparent, 'its own')
  assert.deepEqual((await sent({}, plain, noTracing)).request, plain)
})
