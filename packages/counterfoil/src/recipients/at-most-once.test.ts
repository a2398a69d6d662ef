import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import type { Exchange } from '../domain/index.ts'
import { ExchangeHandler } from './exchange-handler.ts'
import { answer, rawServer } from './fixtures/raw-server.ts'
import type { NetworkRequest } from './network.ts'
import { type UndiciNetworkOptions, undiciNetwork } from './undici-network.ts'

const never = new AbortController().signal

function sender(t: TestContext, options: UndiciNetworkOptions = {}) {
  const network = undiciNetwork({ connectionsPerOrigin: 1, ...options })
  t.after(() => network.close())
  return (url: URL, about: Partial<NetworkRequest> = {}, signal = never): Promise<Exchange> =>
    network.send(
      {
        url,
        method: 'POST',
        headers: {},
        body: Buffer.from('{}'),
        timeoutMs: 60_000,
        maxAnswerBytes: 10_000,
        allowPrivateAddresses: true,
        ...about,
      },
      signal,
    )
}

describe('a request goes out at most once', () => {
  // GET and PUT too: HTTP calls them idempotent, and client libraries like to repeat them.
  for (const method of ['POST', 'PUT', 'GET', 'DELETE']) {
    test(`a kept connection that is reset under a ${method} is unclear and nothing is sent again`, async (t) => {
      const server = await rawServer(t, {
        onRequest: (socket, _, number) =>
          void (number === 2 ? socket.resetAndDestroy() : socket.write(answer(200))),
      })
      const send = sender(t)
      // undici keeps no connection after a GET or DELETE with a body.
      const about = { method, body: /GET|DELETE/.test(method) ? null : Buffer.from('{}') }
      assert.equal((await send(server.url('/1'), about)).kind, 'answered')
      assert.deepEqual(await send(server.url('/2'), about), {
        kind: 'unclear',
        why: 'the connection was reset before an answer came',
      })
      // A third one would come after a second try of the second.
      assert.equal((await send(server.url('/3'), about)).kind, 'answered')
      assert.deepEqual(
        server.seen.map(({ head }) => head.split(' ')[1]),
        ['/1', '/2', '/3'],
      )
      assert.equal(server.connections.length, 2)
    })
  }

  test('a connection that died while idle costs no attempt: the request goes out on a new one', async (t) => {
    const server = await rawServer(t, { onRequest: (socket) => void socket.write(answer(200)) })
    const send = sender(t)
    await send(server.url('/1'))
    server.connections[0]!.end()
    await once(server.connections[0]!, 'close')
    assert.equal((await send(server.url('/2'))).kind, 'answered')
    assert.equal(server.seen.length, 2)
    assert.equal(server.connections.length, 2)
  })

  test('whenever a kept connection dies, nothing arrives twice and what was not sent does not arrive', async (t) => {
    const kill = [(socket: Socket) => void socket.end(), (socket: Socket) => void socket.resetAndDestroy()]
    const server = await rawServer(t, {
      onRequest(socket, _, number) {
        socket.write(answer(200))
        if (number % 2 === 0) return
        // From at once to some turns later: before, while and after the next request is written.
        const turns = Math.floor(number / 4) % 6
        const die = (left: number) =>
          void (left === 0 ? kill[(number >> 1) % 2]!(socket) : setImmediate(die, left - 1))
        die(turns)
      },
    })
    const send = sender(t)
    const told = new Map<string, Exchange['kind']>()
    for (let i = 0; i < 300; i++) told.set(`/${i}`, (await send(server.url(`/${i}`))).kind)
    const arrived = new Map<string, number>()
    for (const { head } of server.seen) {
      const path = head.split(' ')[1]!
      arrived.set(path, (arrived.get(path) ?? 0) + 1)
    }
    for (const [path, kind] of told) {
      const times = arrived.get(path) ?? 0
      const allowed = { answered: [1], unclear: [0, 1], notSent: [0] }[kind]
      assert.ok(allowed.includes(times), `${path} was told as ${kind} and arrived ${times} times`)
    }
  })

  test('one that was given up while it waited for a connection never goes out, and the connection stays', async (t) => {
    const abort = new AbortController()
    const server = await rawServer(t)
    const send = sender(t)
    const first = send(server.url('/1'))
    const waiting = send(server.url('/2'), {}, abort.signal)
    const late = send(server.url('/3'), { timeoutMs: 50 })
    while (server.seen.length === 0) await new Promise(setImmediate)
    abort.abort()
    assert.deepEqual(await waiting, { kind: 'notSent', why: 'it was stopped before the answer was complete' })
    assert.deepEqual(await late, { kind: 'notSent', why: 'no complete answer within 50 ms' })
    const last = send(server.url('/4'))
    server.connections[0]!.write(answer(200))
    await first
    while (server.seen.length === 1) await new Promise(setImmediate)
    server.connections[0]!.write(answer(200))
    assert.equal((await last).kind, 'answered')
    assert.deepEqual(
      server.seen.map(({ head }) => head.split(' ')[1]),
      ['/1', '/4'],
    )
    assert.equal(server.connections.length, 1)
  })

  test('requests to one origin share no connection while they run, and no more than the cap are open', async (t) => {
    const server = await rawServer(t, {
      onRequest: (socket) => void setImmediate(() => socket.write(answer(200))),
    })
    const send = sender(t, { connectionsPerOrigin: 3 })
    const exchanges = await Promise.all(Array.from({ length: 30 }, (_, i) => send(server.url(`/${i}`))))
    assert.ok(exchanges.every(({ kind }) => kind === 'answered'))
    assert.equal(server.seen.length, 30)
    assert.equal(server.connections.length, 3)
  })
})

describe('the handler holds the line by itself', () => {
  const controller = { aborted: false, paused: false, reason: null, abort() {}, pause() {}, resume() {} }

  test('a second start of the same request is stopped before it is written', () => {
    const seen: Exchange[] = []
    const handler = new ExchangeHandler(10, (exchange) => seen.push(exchange))
    handler.onRequestStart(controller)
    assert.throws(() => handler.onRequestStart(controller))
    handler.onResponseError(controller, new Error('dropped'))
    assert.equal(seen[0]?.kind, 'unclear')
  })

  test('the first thing seen is told, and only that', () => {
    const seen: Exchange[] = []
    const handler = new ExchangeHandler(10, (exchange) => seen.push(exchange))
    handler.giveUp('late')
    assert.throws(() => handler.onRequestStart(controller))
    handler.onResponseError(controller, new Error('dropped'))
    handler.giveUp('later')
    assert.deepEqual(seen, [{ kind: 'notSent', why: 'late' }])
  })
})
