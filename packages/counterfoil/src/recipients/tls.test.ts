import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { Exchange } from '../domain/index.ts'
import { answer, type RawServerOptions, rawServer } from './fixtures/raw-server.ts'
import { selfSigned } from './fixtures/self-signed.ts'
import { type UndiciNetworkOptions, undiciNetwork } from './undici-network.ts'

const tls = selfSigned('recipient.example')
const ok: RawServerOptions = { tls, onRequest: (socket) => void socket.write(answer(200, 'hello')) }

async function ask(
  t: TestContext,
  url: URL,
  options: UndiciNetworkOptions,
  timeoutMs = 60_000,
): Promise<Exchange> {
  const resolveName: UndiciNetworkOptions['resolveName'] = (_, __, callback) =>
    callback(null, [{ address: '127.0.0.1', family: 4 }])
  const network = undiciNetwork({ resolveName, ...options })
  t.after(() => network.close())
  const request = {
    url,
    method: 'POST',
    headers: {},
    body: Buffer.from('{}'),
    timeoutMs,
    maxAnswerBytes: 100,
  }
  return await network.send({ ...request, allowPrivateAddresses: true }, new AbortController().signal)
}

describe('TLS', () => {
  test('a certificate that fits is talked to', async (t) => {
    const server = await rawServer(t, ok)
    const exchange = await ask(t, server.url('/', 'recipient.example'), { ca: tls.cert })
    assert.equal(exchange.kind, 'answered')
    assert.equal(server.seen.length, 1)
  })

  test('a certificate that nobody vouches for: not sent', async (t) => {
    const server = await rawServer(t, ok)
    const exchange = await ask(t, server.url('/', 'recipient.example'), {})
    const why = `no TLS with recipient.example:${server.port} (DEPTH_ZERO_SELF_SIGNED_CERT)`
    assert.deepEqual(exchange, { kind: 'notSent', why })
    assert.equal(server.seen.length, 0)
  })

  test('a certificate for another name: not sent', async (t) => {
    const server = await rawServer(t, ok)
    const exchange = await ask(t, server.url('/', 'other.example'), { ca: tls.cert })
    const why = `no TLS with other.example:${server.port} (ERR_TLS_CERT_ALTNAME_INVALID)`
    assert.deepEqual(exchange, { kind: 'notSent', why })
    assert.equal(server.seen.length, 0)
  })

  test('no TLS on the other side: not sent', async (t) => {
    const server = await rawServer(t, {
      onConnection: (socket) => void socket.write('HTTP/1.1 400 Bad\r\n\r\n'),
    })
    const exchange = await ask(t, new URL(`https://recipient.example:${server.port}/`), {})
    assert.equal(exchange.kind, 'notSent')
    assert.match(exchange.kind === 'notSent' ? exchange.why : '', /no TLS with/)
  })

  test('a handshake that is cut: not sent', async (t) => {
    const server = await rawServer(t, {
      onConnection: (socket) => void socket.once('data', () => socket.resetAndDestroy()),
    })
    const exchange = await ask(t, new URL(`https://recipient.example:${server.port}/`), {})
    assert.equal(exchange.kind, 'notSent')
  })

  test('a handshake that never ends: not sent, by the time to connect and by the deadline', async (t) => {
    const server = await rawServer(t)
    const url = new URL(`https://recipient.example:${server.port}/`)
    const slow = await ask(t, url, { connectTimeoutMs: 300 })
    assert.deepEqual(slow, {
      kind: 'notSent',
      why: `no connection to recipient.example:${server.port} within 300 ms`,
    })
    assert.equal((await ask(t, url, {}, 300)).kind, 'notSent')
  })

  test('a reset after the request is unclear as it is without TLS', async (t) => {
    const raw: { end?: () => void } = {}
    const server = await rawServer(t, { tls, onRequest: () => raw.end?.() })
    raw.end = () => server.connections[0]?.destroy()
    const exchange = await ask(t, server.url('/', 'recipient.example'), { ca: tls.cert })
    assert.equal(exchange.kind, 'unclear')
  })
})
