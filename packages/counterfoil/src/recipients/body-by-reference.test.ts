import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { z } from 'zod'
import { systemClock } from '../ambient.ts'
import type { Contract, Duration, EffectKey, IdempotencyKey } from '../domain/index.ts'
import type { BodyReference } from './body-reference.ts'
import { type BodyStore, fileBodies } from './body-store.ts'
import { rawServer } from './fixtures/raw-server.ts'
import { encode, prepare } from './reach.ts'
import { recipient } from './recipient.ts'
import { undiciNetwork } from './undici-network.ts'

const contract: Contract = {
  idempotency: {
    header: 'Idempotency-Key',
    remembersFor: '24h',
    otherPayload: 'refused',
    replays: 'first-success',
  },
}
const key = 'cf_1' as IdempotencyKey
const never = new AbortController().signal
const bytes = randomBytes(3_000_000)
/** Gives the first of its bytes and then no more. */
const slow: BodyStore = {
  immutable: true,
  async *open(_, { signal }) {
    yield bytes.subarray(0, 100_000)
    yield bytes.subarray(100_000, 200_000)
    await once(signal, 'abort')
  },
}
const digest = (of: Uint8Array) => createHash('sha256').update(of).digest('hex')
const reference: BodyReference<'files'> = {
  store: 'files',
  key: '2026/scan-7.pdf',
  length: bytes.byteLength,
  sha256: digest(bytes),
  mediaType: 'application/pdf',
}

/** A service that digests what it is sent; whole requests alone are uploads. */
async function service(
  t: TestContext,
  answer?: (request: IncomingMessage, response: ServerResponse) => void,
) {
  const uploads: { readonly headers: IncomingMessage['headers']; readonly sha256: string }[] = []
  const sockets = new Set<Socket>()
  const server = createServer(async (request, response) => {
    if (answer !== undefined) return answer(request, response)
    const hash = createHash('sha256')
    try {
      for await (const chunk of request) hash.update(chunk)
    } catch {
      return
    }
    uploads.push({ headers: request.headers, sha256: hash.digest('hex') })
    response.writeHead(uploads.length === 1 ? 503 : 201).end()
  })
  server.on('connection', (socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    uploads,
    connections: () => sockets.size,
  }
}

/** An effect as it is planned, and attempts with what is stored of it. */
function planned(t: TestContext, url: string, files: BodyStore, timeout: Duration = '30s') {
  const network = undiciNetwork()
  t.after(() => network.close())
  const archive = recipient('archive', {
    url,
    contract,
    bodies: { files },
    timeout,
    allowPrivateAddresses: true,
  })
  const put = archive.effect('scan.put', {
    payload: z.object({ sha256: z.string() }),
    request: ({ sha256 }) => ({ method: 'PUT', path: '/scans/7', bodyFrom: { ...reference, sha256 } }),
  })
  const stored = encode(archive, put.request({ sha256: reference.sha256 }), key)
  let attempts = 0
  return {
    stored,
    async attempt(stop = never) {
      const at = Date.now()
      const effect = { idempotencyKey: key, key: 'scan/7' as EffectKey, order: null, correlation: null }
      const carryOut = prepare({ network, clock: systemClock }, archive, stored)
      return (await carryOut({ ...effect, plannedAt: at, begunAt: at }, ++attempts, stop)).outcome
    },
  }
}

/** A store that gives these bytes at each opening, the last of them for ever. */
function storeOf(...openings: readonly (Uint8Array | Error)[]): BodyStore & { opened: number } {
  return {
    opened: 0,
    async *open() {
      const found = openings[Math.min(this.opened++, openings.length - 1)]!
      if (found instanceof Error) throw found
      for (let at = 0; at < found.byteLength; at += 100_000) yield found.subarray(at, at + 100_000)
    },
  }
}

test('a body by reference is streamed with its length; a repeat sends the same bytes under the same key', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'counterfoil-bodies-'))
  t.after(() => rmSync(directory, { recursive: true }))
  mkdirSync(join(directory, '2026'))
  writeFileSync(join(directory, reference.key), bytes)
  const { url, uploads } = await service(t)
  const { attempt, stored } = planned(t, url, fileBodies(directory))
  assert.ok(stored.byteLength < 500, 'the ledger holds the reference alone')
  assert.equal((await attempt()).kind, 'unknown')
  assert.equal((await attempt()).kind, 'confirmed')
  assert.deepEqual(new Set(uploads.map(({ sha256 }) => sha256)), new Set([reference.sha256]))
  for (const { headers } of uploads) {
    assert.equal(headers['content-length'], String(bytes.byteLength))
    assert.equal(headers['transfer-encoding'], undefined)
    assert.equal(headers['content-type'], 'application/pdf')
    assert.equal(headers['idempotency-key'], key)
  }
})

describe('nothing is sent, and it is known', () => {
  const changed = Uint8Array.from(bytes)
  changed[2_999_999]! ^= 1
  const cases: [string, Uint8Array | Error, RegExp][] = [
    [
      'when the store fails',
      Object.assign(new Error('hunter2'), { code: 'ENOENT' }),
      /body_unreadable.*ENOENT/,
    ],
    ['when a byte of it was changed', changed, /body_changed.*SHA-256/],
    ['when it was cut', bytes.subarray(0, 2_999_999), /body_changed.*2999999 of 3000000/],
    ['when it has grown', Buffer.concat([bytes, Buffer.from('x')]), /body_changed.*longer/],
  ]
  for (const [name, found, why] of cases) {
    test(name, async (t) => {
      const { url, uploads, connections } = await service(t)
      const { attempt } = planned(t, url, storeOf(found, bytes))
      const outcome = await attempt()
      assert.equal(outcome.kind, 'notActed')
      assert.match(outcome.why, why)
      assert.doesNotMatch(outcome.why, /hunter2/)
      assert.equal(connections(), 0)
      // Once it is as it was planned, the same effect goes out.
      await attempt()
      assert.deepEqual(
        uploads.map(({ sha256 }) => sha256),
        [reference.sha256],
      )
    })
  }

  test('when the store is not done in time, or the process stops meanwhile', async (t) => {
    const { url, connections } = await service(t)
    const hanging: BodyStore = { open: () => new Promise(() => {}) }
    assert.match((await planned(t, url, hanging, '50ms').attempt()).why, /^nothing was sent: body_unreadable/)
    const stop = new AbortController()
    const stopped = planned(t, url, hanging).attempt(stop.signal)
    stop.abort()
    assert.equal((await stopped).kind, 'notActed')
    assert.equal(connections(), 0)
  })

  test('when one chunk that never changes is all of it, and is another: not even a head goes out', async (t) => {
    const server = await rawServer(t)
    const other = Uint8Array.from(bytes)
    other[0]! ^= 1
    const inOne: BodyStore = {
      immutable: true,
      async *open() {
        yield other
      },
    }
    const outcome = await planned(t, server.url('').href, inOne).attempt()
    assert.equal(outcome.kind, 'notActed')
    assert.match(outcome.why, /body_changed/)
    const [socket] = server.connections
    if (socket?.closed === false) await once(socket, 'close')
    assert.equal(socket?.bytesRead, 0)
  })
})

describe('it stays unknown, and the recipient has no whole request', () => {
  const changed = Uint8Array.from(bytes)
  changed[2_999_999]! ^= 1
  for (const [name, second] of [
    ['when the bytes change after they were looked at', changed],
    ['when they end early', bytes.subarray(0, 1_000_000)],
  ] as const) {
    test(name, async (t) => {
      const { url, uploads } = await service(t)
      const store = storeOf(bytes, second, bytes)
      const { attempt } = planned(t, url, store)
      const outcome = await attempt()
      assert.equal(outcome.kind, 'unknown')
      assert.match(outcome.why, /^body_changed/)
      assert.deepEqual([uploads.length, store.opened], [0, 2])
      await attempt()
      assert.equal((await attempt()).kind, 'confirmed')
      assert.deepEqual(new Set(uploads.map(({ sha256 }) => sha256)), new Set([reference.sha256]))
    })
  }

  test('when a store stands still in the middle: the deadline ends it, and the store is told', async (t) => {
    const { url, uploads } = await service(t)
    let told = false
    const halting: BodyStore = {
      immutable: true,
      async *open(reference, about) {
        yield* await slow.open(reference, about)
        told = true
      },
    }
    const outcome = await planned(t, url, halting, '300ms').attempt()
    assert.equal(outcome.kind, 'unknown')
    assert.match(outcome.why, /no complete answer within/)
    assert.deepEqual([told, uploads.length], [true, 0])
  })

  test('when it says that it acted before it had all of it', async (t) => {
    const { url } = await service(t, (_, response) => response.writeHead(201).end())
    const outcome = await planned(t, url, slow).attempt()
    assert.deepEqual(outcome, { kind: 'unknown', why: 'answered 201 before it had the whole request' })
  })
})

test('a recipient that refuses before it has all of it has refused', async (t) => {
  const { url } = await service(t, (_, response) => response.writeHead(413, { connection: 'close' }).end())
  const outcome = await planned(t, url, slow).attempt()
  assert.deepEqual([outcome.kind, outcome.status], ['refused', 413])
})

test('a file store gives nothing outside its directory', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'counterfoil-bodies-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const store = fileBodies(directory)
  for (const name of ['', '..', '../x', 'a/../../x', '/etc/passwd', 'a//b', 'a/', '.hidden', 'a\0b'])
    assert.throws(() => store.open(name, { signal: never }), { code: 'body_unreadable' }, name)
})

test('what cannot be such a body is refused at planning', () => {
  const url = 'https://archive.example'
  const archive = recipient('archive', { url, contract, bodies: { files: storeOf(bytes) } })
  const request = (about: object, more: object = {}) => ({
    method: 'PUT',
    path: '/scans/7',
    bodyFrom: { ...reference, ...about },
    ...more,
  })
  for (const [about, code] of [
    [{ store: 'other' }, 'body_store_unknown'],
    [{ store: 'toString' }, 'body_store_unknown'],
    [{ key: '' }, 'effect_payload_invalid'],
    [{ key: 'x'.repeat(1_025) }, 'effect_payload_invalid'],
    [{ length: 0 }, 'effect_payload_invalid'],
    [{ length: 1.5 }, 'effect_payload_invalid'],
    [{ sha256: reference.sha256.toUpperCase() }, 'effect_payload_invalid'],
    [{ mediaType: 'text/plain\r\nx: y' }, 'effect_payload_invalid'],
  ] as const)
    assert.throws(() => encode(archive, request(about), key), { code }, JSON.stringify(about).slice(0, 60))
  assert.throws(() => encode(archive, request({}, { body: {} }), key), { code: 'config_invalid' })
  const pointer = { idempotency: { ...contract.idempotency!, header: undefined, pointer: '/key' } }
  const byMember = recipient('archive', {
    url,
    contract: JSON.parse(JSON.stringify(pointer)) as Contract,
    bodies: { files: storeOf(bytes) },
  })
  assert.throws(() => encode(byMember, request({}), key), { code: 'config_invalid' })
  assert.throws(() => recipient('archive', { url, contract, bodies: { 'a b': storeOf(bytes) } }), {
    code: 'config_invalid',
  })
  assert.throws(() => recipient('archive', { url, contract, bodies: { files: {} as never } }), {
    code: 'config_invalid',
  })
})

test('an effect whose store is no longer named is not sent, and says so', async (t) => {
  const { url, connections } = await service(t)
  const network = undiciNetwork()
  t.after(() => network.close())
  const { stored } = planned(t, url, storeOf(bytes))
  const renamed = recipient('archive', {
    url,
    contract,
    bodies: { scans: storeOf(bytes) },
    allowPrivateAddresses: true,
  })
  const at = Date.now()
  const effect = { idempotencyKey: key, key: 'scan/7' as EffectKey, order: null, correlation: null }
  const carryOut = prepare({ network, clock: systemClock }, renamed, stored)
  const { outcome } = await carryOut({ ...effect, plannedAt: at, begunAt: at }, 1, never)
  assert.match(outcome.why, /^nothing was sent: body_store_unknown/)
  assert.equal(connections(), 0)
})

test('only a store of the recipient can be named, and only where it has any', () => {
  const url = 'https://archive.example'
  const archive = recipient('archive', { url, contract, bodies: { files: storeOf(bytes) } })
  const plain = recipient('plain', { url, contract })
  const payload = z.object({})
  const bodyFrom = { ...reference, store: 'other' } as const
  archive.effect('a', { payload, request: () => ({ method: 'PUT', path: '', bodyFrom: reference }) })
  // @ts-expect-error no store of that name
  archive.effect('b', { payload, request: () => ({ method: 'PUT', path: '', bodyFrom }) })
  // @ts-expect-error no stores
  plain.effect('c', { payload, request: () => ({ method: 'PUT', path: '', bodyFrom: reference }) })
})
