import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { systemClock } from '../ambient.ts'
import { maxHeaderBytes, maxHeaders } from './arrival.ts'
import { acceptAll, now, standard, testIntake } from './fixtures/intake.ts'
import { standardHeaders } from './fixtures/senders.ts'
import { producer } from './producer.ts'
import { createReceive } from './receive.ts'

const hasty = producer('hasty', standard.kind, { maxReadTime: '50ms', maxBytes: 1_000 })
const paid = JSON.stringify({ type: 'invoice.paid', data: { id: 'in_1' } })

describe('a request of Node’s HTTP server', () => {
  const { ports, entries } = testIntake(acceptAll, { producers: [hasty] })
  const { receiveIncoming } = createReceive({
    ...ports,
    clock: { ...ports.clock, now: () => now * 1000, after: systemClock.after },
  })
  let prepare: (incoming: IncomingMessage) => Promise<unknown> = async () => {}
  // As large as it may be told to take, so that the limit met here is ours.
  const server = createServer({ maxHeaderSize: 4 * maxHeaderBytes }, async (incoming, outgoing) => {
    await prepare(incoming)
    const response = await receiveIncoming(incoming)
    outgoing.writeHead(response.status, [...response.headers].flat())
    outgoing.end(await response.text())
  })
  before(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
  after(() => server.close().closeAllConnections())

  /** Writes raw HTTP and gives the status and code of the answer, or `reset`. */
  async function raw(
    path: string,
    headers: Record<string, string>,
    send: (socket: Socket) => void,
  ): Promise<string> {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    const lines = Object.entries({ host: 'h.test', connection: 'close', ...headers }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    )
    socket.write(`POST /in/${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
    send(socket)
    let text = ''
    try {
      for await (const chunk of socket) {
        text += chunk
        if (/"(?:code|outcome)":"\w+"/.test(text)) break
      }
    } catch {
      return text === '' ? 'reset' : text
    }
    return `${/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]} ${/"(?:code|outcome)":"(\w+)"/.exec(text)?.[1]}`
  }
  const signed = (id: string) => standardHeaders(id, now, paid)
  const sized = (id: string) => ({ ...signed(id), 'content-length': String(paid.length) })
  const json = { 'content-type': 'application/json' }

  test('is accepted in one piece, in chunks and byte by byte', async () => {
    assert.equal(await raw('standard', sized('m1'), (socket) => socket.write(paid)), '202 accepted')
    const chunked = { ...signed('m2'), 'transfer-encoding': 'chunked' }
    const inChunks = (socket: Socket) => {
      for (const byte of paid) socket.write(`1\r\n${byte}\r\n`)
      socket.write('0\r\n\r\n')
    }
    assert.equal(await raw('standard', chunked, inChunks), '202 accepted')
    assert.deepEqual(
      entries.map(({ receipt }) => [receipt.eventId, receipt.bytes]),
      [
        ['m1', paid.length],
        ['m2', paid.length],
      ],
    )
    assert.equal(entries[0]!.receipt.rawFingerprint, entries[1]!.receipt.rawFingerprint)
  })

  test('with a query, and with a path that nobody receives at', async () => {
    assert.equal(await raw('standard?a=/in/b', sized('m3'), (socket) => socket.write(paid)), '202 accepted')
    assert.equal(await raw('nobody', sized('m3'), (socket) => socket.write(paid)), '404 producer_unknown')
  })

  test('with more headers than anyone sends, or larger ones', async () => {
    const many = Object.fromEntries(Array.from({ length: maxHeaders }, (_, at) => [`x-${at}`, 'y']))
    assert.equal(await raw('standard', { ...sized('m9'), ...many }, () => {}), '431 headers_too_large')
    const large = { 'x-large': 'y'.repeat(maxHeaderBytes) }
    assert.equal(await raw('standard', { ...sized('m9'), ...large }, () => {}), '431 headers_too_large')
    const fitting = { 'x-large': 'y'.repeat(maxHeaderBytes - 1_000) }
    assert.equal(
      await raw('standard', { ...sized('m9'), ...fitting }, (socket) => socket.write(paid)),
      '202 accepted',
    )
  })

  test('that was tampered with is not authenticated', async () => {
    assert.equal(
      await raw('standard', sized('m4'), (socket) => socket.write(paid.replace('in_1', 'in_2'))),
      '401 signature_invalid',
    )
  })

  test('over the limit is answered, stated or not, and compressed ones too', async () => {
    const large = 'x'.repeat(1_001)
    const flood = (socket: Socket) => {
      for (let index = 0; index < 100; index++) socket.write(`3e9\r\n${large}\r\n`)
    }
    assert.equal(await raw('hasty', { ...json, 'content-length': '1001' }, () => {}), '413 body_too_large')
    assert.equal(await raw('hasty', { ...json, 'transfer-encoding': 'chunked' }, flood), '413 body_too_large')
    assert.equal(
      await raw('hasty', { ...json, 'content-encoding': 'zstd', 'content-length': '9' }, () => {}),
      '415 content_encoding_unsupported',
    )
    const small = gzipSync(Buffer.alloc(1_001))
    assert.equal(
      await raw(
        'hasty',
        { ...json, 'content-encoding': 'gzip', 'content-length': String(small.length) },
        (socket) => socket.write(small),
      ),
      '413 body_too_large',
    )
  })

  test('that stops arriving is too slow', async () => {
    assert.equal(
      await raw('hasty', { ...json, 'content-length': '9' }, (socket) => socket.write('{')),
      '408 body_too_slow',
    )
  })

  test('that is torn stores nothing and ends nothing', async () => {
    const before = entries.length
    const answer = await raw('standard', sized('m5'), (socket) => {
      socket.write(paid.slice(0, 5))
      setTimeout(() => socket.destroy(), 20)
    })
    assert.ok(!answer.startsWith('202'))
    assert.equal(entries.length, before)
    assert.equal(await raw('standard', sized('m6'), (socket) => socket.write(paid)), '202 accepted')
  })

  test('whose body somebody else has read is our own fault', async () => {
    prepare = (incoming) => new Promise((resolve) => incoming.once('data', resolve))
    assert.equal(await raw('standard', sized('m7'), (socket) => socket.write(paid)), '503 body_already_read')
    prepare = async () => {}
  })

  test('whose sender has gone before it was looked at is torn', async () => {
    let gone = () => {}
    const left = new Promise<void>((resolve) => {
      gone = resolve
    })
    prepare = async (incoming) => {
      incoming.on('error', () => {})
      incoming.once('close', gone)
      await left
    }
    const before = ports.counters.get('standard body_broken') ?? 0
    await raw('standard', { ...sized('m8') }, (socket) => setTimeout(() => socket.destroy(), 20))
    await left
    await new Promise((resolve) => setTimeout(resolve, 20))
    assert.equal(ports.counters.get('standard body_broken'), before + 1)
    prepare = async () => {}
  })
})
