import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import type { Exchange } from '../domain/index.ts'
import { answer, type RawServerOptions, rawServer } from './fixtures/raw-server.ts'
import type { NetworkRequest } from './network.ts'
import { type UndiciNetworkOptions, undiciNetwork } from './undici-network.ts'

const never = new AbortController().signal

function networkFor(t: TestContext, options: UndiciNetworkOptions = {}) {
  const network = undiciNetwork(options)
  t.after(() => network.close())
  return network
}

function post(url: URL, about: Partial<NetworkRequest> = {}): NetworkRequest {
  return {
    url,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from('{"a":1}'),
    timeoutMs: 60_000,
    maxAnswerBytes: 100_000,
    allowPrivateAddresses: true,
    ...about,
  }
}

/** One POST to a server that does as told. */
async function exchangeWith(
  t: TestContext,
  server: RawServerOptions,
  about: Partial<NetworkRequest> = {},
): Promise<Exchange> {
  const { url } = await rawServer(t, server)
  return await networkFor(t).send(post(url(), about), never)
}

function says(text: string): RawServerOptions {
  return { onRequest: (socket) => void socket.write(text) }
}

function bodyOf(exchange: Exchange): string {
  assert.equal(exchange.kind, 'answered')
  return Buffer.from(exchange.kind === 'answered' ? exchange.body : []).toString()
}

describe('answered', () => {
  test('a complete answer has its status, lower-case headers and body', async (t) => {
    const exchange = await exchangeWith(
      t,
      says(answer(201, '{"ok":true}', 'X-Op: 7\r\nVary: a\r\nVary: b\r\n')),
    )
    assert.equal(bodyOf(exchange), '{"ok":true}')
    assert.ok(exchange.kind === 'answered')
    assert.equal(exchange.status, 201)
    assert.deepEqual({ ...exchange.headers }, { 'x-op': '7', vary: 'a, b', 'content-length': '11' })
  })

  test('the request goes out as given, once, with the length of its body', async (t) => {
    const server = await rawServer(t, says(answer(200)))
    await networkFor(t).send(
      post(server.url('/effects?x=1'), { headers: { 'idempotency-key': 'cf_1' } }),
      never,
    )
    assert.equal(server.seen.length, 1)
    const { head, body } = server.seen[0]!
    assert.match(head, /^POST \/effects\?x=1 HTTP\/1\.1\r\n/)
    assert.match(head, new RegExp(`^host: 127\\.0\\.0\\.1:${server.port}\\r\\n`, 'm'))
    assert.match(head, /^idempotency-key: cf_1\r\n/m)
    assert.match(head, /^content-length: 7\r\n/m)
    assert.equal(body.toString(), '{"a":1}')
  })

  test('a chunked answer is put together', async (t) => {
    const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n'
    assert.equal(bodyOf(await exchangeWith(t, says(chunked))), 'abcde')
  })

  test('an answer without a length ends where the recipient closes in order', async (t) => {
    const onRequest = (socket: Socket) => void socket.end('HTTP/1.1 200 OK\r\n\r\nall of it')
    assert.equal(bodyOf(await exchangeWith(t, { onRequest })), 'all of it')
  })

  test('an early hint is not the answer', async (t) => {
    const exchange = await exchangeWith(
      t,
      says(`HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${answer(204)}`),
    )
    assert.equal(exchange.kind === 'answered' && exchange.status, 204)
  })

  test('a 307 is an answer like any other and is not followed', async (t) => {
    const elsewhere = await rawServer(t, says(answer(200)))
    const exchange = await exchangeWith(t, says(answer(307, '', `location: ${elsewhere.url()}\r\n`)))
    assert.equal(exchange.kind === 'answered' && exchange.status, 307)
    assert.equal(elsewhere.connections.length, 0)
  })

  test('a refusal that comes while a large body is still going out is an answer', async (t) => {
    const onHead = (socket: Socket) => void socket.write(answer(413))
    const exchange = await exchangeWith(t, { onHead }, { body: Buffer.alloc(6_000_000) })
    assert.equal(exchange.kind === 'answered' && exchange.status, 413)
  })

  test('an answer before the request was read, with the connection closed in order, is an answer', async (t) => {
    const onHead = (socket: Socket) => void socket.end(answer(401, 'no', 'connection: close\r\n'))
    assert.equal(bodyOf(await exchangeWith(t, { onHead }, { body: Buffer.alloc(3_000_000) })), 'no')
  })

  test('an answer as long as the limit is read whole', async (t) => {
    assert.equal(
      bodyOf(await exchangeWith(t, says(answer(200, 'x'.repeat(5_000))), { maxAnswerBytes: 5_000 })).length,
      5_000,
    )
  })
})

describe('unclear: the request was begun', () => {
  const cases: Record<string, { server: RawServerOptions; why: RegExp }> = {
    'the connection is reset before an answer': {
      server: { onRequest: (socket) => void socket.resetAndDestroy() },
      why: /reset before an answer came/,
    },
    'the connection is closed before an answer': {
      server: { onRequest: (socket) => void socket.end() },
      why: /closed before an answer came/,
    },
    'the header section breaks off': {
      server: { onRequest: (socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-le') },
      why: /closed before an answer came|not valid/,
    },
    'the body is shorter than its length says': {
      server: {
        onRequest: (socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"ok"'),
      },
      why: /closed in the middle of the answer/,
    },
    'the body is shorter than its length says, and the connection was to close anyway': {
      server: {
        onRequest: (socket) =>
          void socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 100\r\n\r\n{"ok"'),
      },
      why: /not as long as it says/,
    },
    'the chunks break off': {
      server: {
        onRequest: (socket) =>
          void socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab'),
      },
      why: /closed in the middle of the answer/,
    },
    'the connection is reset in an answer without a length': {
      server: {
        onRequest: (socket) => {
          socket.write('HTTP/1.1 200 OK\r\n\r\n{"state":', () =>
            setTimeout(() => socket.resetAndDestroy(), 50),
          )
        },
      },
      why: /reset in the middle of the answer/,
    },
    'the answer is not HTTP': { server: says('SMTP ready\r\n\r\n'), why: /not valid HTTP/ },
    'the header section is too large': {
      server: says(answer(200, '', `x: ${'y'.repeat(20_000)}\r\n`)),
      why: /header section/,
    },
    'the body says that it is too long': {
      server: says(answer(200, 'x'.repeat(100_001))),
      why: /larger than 100000 bytes/,
    },
    'the body turns out too long': {
      server: says(
        `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n186a1\r\n${'x'.repeat(100_001)}\r\n0\r\n\r\n`,
      ),
      why: /larger than 100000 bytes/,
    },
    'the recipient switches protocols unasked': {
      server: says('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
      why: /closed|failed/,
    },
  }
  for (const [name, { server, why }] of Object.entries(cases)) {
    test(name, async (t) => {
      const exchange = await exchangeWith(t, server)
      assert.equal(exchange.kind, 'unclear')
      assert.match(exchange.kind === 'unclear' ? exchange.why : '', why)
    })
  }

  test('the connection is reset while the body goes out', async (t) => {
    const exchange = await exchangeWith(
      t,
      { onHead: (socket) => void socket.resetAndDestroy() },
      { body: Buffer.alloc(6_000_000) },
    )
    assert.equal(exchange.kind, 'unclear')
  })

  test('the deadline passes before the headers, or in the middle of the body', {
    concurrency: true,
  }, async (t) => {
    const silent = exchangeWith(t, {}, { timeoutMs: 1_500 })
    const halting = exchangeWith(t, says('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"a'), {
      timeoutMs: 1_500,
    })
    const unclear = { kind: 'unclear', why: 'no complete answer within 1500 ms' }
    assert.deepEqual(await Promise.all([silent, halting]), [unclear, unclear])
  })

  test('it is aborted when the request is there', async (t) => {
    const abort = new AbortController()
    const server = await rawServer(t, { onRequest: () => abort.abort() })
    const exchange = await networkFor(t).send(post(server.url()), abort.signal)
    assert.deepEqual(exchange, { kind: 'unclear', why: 'it was stopped before the answer was complete' })
    await once(server.connections[0]!, 'close')
  })

  test('the network is closed when the request is there', async (t) => {
    const network = networkFor(t)
    const server = await rawServer(t, { onRequest: () => void network.close() })
    assert.deepEqual(await network.send(post(server.url()), never), {
      kind: 'unclear',
      why: 'this process closed its connections',
    })
    assert.deepEqual(await network.send(post(server.url()), never), {
      kind: 'notSent',
      why: 'this process closed its connections',
    })
    assert.equal(server.seen.length, 1)
  })
})

describe('not sent', () => {
  test('the name does not resolve', async (t) => {
    const exchange = await networkFor(t).send(post(new URL('http://counterfoil.invalid/x')), never)
    assert.equal(exchange.kind, 'notSent')
    assert.match(exchange.kind === 'notSent' ? exchange.why : '', /counterfoil\.invalid:80 does not resolve/)
  })

  test('nobody listens on the port', async (t) => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    await new Promise((resolve) => server.close(resolve))
    const exchange = await networkFor(t).send(post(new URL(`http://127.0.0.1:${port}/`)), never)
    assert.deepEqual(exchange, {
      kind: 'notSent',
      why: `127.0.0.1:${port} refused the connection (ECONNREFUSED)`,
    })
  })

  test('the connection is not made in its time, or in the time of the request', async (t) => {
    // Resolves for ever: the earliest part of connecting.
    const resolveName = () => {}
    const url = new URL('http://slow.example/')
    const slow = await networkFor(t, { resolveName, connectTimeoutMs: 300 }).send(post(url), never)
    assert.deepEqual(slow, { kind: 'notSent', why: 'no connection to slow.example:80 within 300 ms' })
    const late = await networkFor(t, { resolveName }).send(post(url, { timeoutMs: 300 }), never)
    assert.deepEqual(late, { kind: 'notSent', why: 'no complete answer within 300 ms' })
  })

  test('it was aborted before, or while it connects', async (t) => {
    const server = await rawServer(t, says(answer(200)))
    const before = await networkFor(t).send(post(server.url()), AbortSignal.abort())
    assert.deepEqual(before, { kind: 'notSent', why: 'it was stopped before it began' })
    assert.equal(server.connections.length, 0)
    const abort = new AbortController()
    const network = networkFor(t, { resolveName: () => abort.abort() })
    const during = await network.send(post(new URL('http://slow.example/')), abort.signal)
    assert.equal(during.kind, 'notSent')
  })

  test('the protocol is not HTTP, or a header cannot be written', async (t) => {
    const server = await rawServer(t, says(answer(200)))
    const network = networkFor(t)
    assert.equal((await network.send(post(new URL('ftp://127.0.0.1/')), never)).kind, 'notSent')
    const split = { headers: { 'x-a': 'b\r\nx-evil: 1' } }
    assert.deepEqual(await network.send(post(server.url(), split), never), {
      kind: 'notSent',
      why: 'the request cannot be written as HTTP/1.1',
    })
    assert.equal(server.seen.length, 0)
  })
})
