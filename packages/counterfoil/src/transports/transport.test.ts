import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { z } from 'zod'
import { systemClock } from '../ambient.ts'
import type { IdempotencyKey } from '../domain/index.ts'
import { contractInWords } from '../operate/contract-in-words.ts'
import { encode, prepare, type Recipient } from '../recipients/index.ts'
import { MemoryBroker } from './fixtures/memory-broker.ts'
import { toMessage, toStored } from './message.ts'
import { readFailure as readNatsFailure, readPubAck } from './nats/outcomes.ts'
import type { Published, Publisher } from './publisher.ts'
import { readFailure as readRedisFailure } from './redis/outcomes.ts'
import { transport } from './transport.ts'

const key = 'cf_key' as IdempotencyKey

function saying(published: Published): Publisher {
  return { broker: 'test', publish: async () => published, close: async () => {} }
}

async function outcomeOf(publisher: Publisher, about: { inTurn?: true } = {}) {
  const to = transport('events', publisher, { source: '/shop', ...about }) as unknown as Recipient
  const stored = encode(to, toStored({ to: 'orders', type: 'order.paid', data: 1 }, '/shop'), key)
  const ports = {
    network: { send: async () => assert.fail('no HTTP'), close: async () => {} },
    clock: systemClock,
  }
  const address = {
    idempotencyKey: key,
    key: 'order/1' as never,
    order: null,
    plannedAt: 0,
    begunAt: 0,
    correlation: null,
  }
  return (await prepare(ports, to, stored)(address, 1, new AbortController().signal)).outcome
}

describe('what a broker says of a message', () => {
  for (const [published, kind, why] of [
    [{ kind: 'confirmed', position: 'ORDERS 7' }, 'confirmed', /test has it, at ORDERS 7/],
    [{ kind: 'confirmed', position: 'ORDERS 7', duplicate: true }, 'confirmed', /from an earlier attempt/],
    [{ kind: 'refused', why: 'too large' }, 'refused', /too large/],
    [{ kind: 'notActed', why: 'nobody listens' }, 'notActed', /nobody listens/],
    [{ kind: 'unknown', why: 'no answer' }, 'unknown', /no answer/],
  ] as const) {
    test(`is the outcome of its attempt: ${JSON.stringify(published)}`, async () => {
      const outcome = await outcomeOf(saying(published))
      assert.equal(outcome.kind, kind)
      assert.match(outcome.why, why)
      if (kind === 'confirmed') assert.equal(outcome.correlation, 'ORDERS 7')
    })
  }

  test('JetStream: an acknowledgement with a stream and a number confirms; anything else that is no known error proves nothing', () => {
    assert.deepEqual(readPubAck({ stream: 'ORDERS', seq: 3, duplicate: true }), {
      kind: 'confirmed',
      position: 'ORDERS 3',
      duplicate: true,
    })
    for (const odd of [{}, { stream: '', seq: 1 }, { stream: 'ORDERS' }])
      assert.equal(readPubAck(odd).kind, 'unknown')
    const said = (code: number) => readPubAck({ error: { code: 400, err_code: code, description: 'd' } }).kind
    assert.deepEqual(
      [said(10054), said(10071), said(10060), said(10077), said(1)],
      ['refused', 'notActed', 'notActed', 'unknown', 'unknown'],
    )
    const named = (name: string) => readNatsFailure(Object.assign(new Error('secret'), { name }))
    assert.deepEqual(
      ['NoResponders', 'TimeoutError', 'ClosedConnectionError', 'InvalidArgumentError'].map(
        (n) => named(n).kind,
      ),
      ['notActed', 'unknown', 'unknown', 'refused'],
    )
    assert.ok(!JSON.stringify(named('TimeoutError')).includes('secret'))
  })

  test('Redis: an error that it gives before it acts proves that it did not; any other proves nothing', () => {
    for (const word of ['OOM', 'READONLY', 'MISCONF', 'NOAUTH', 'LOADING', 'CLUSTERDOWN'])
      assert.equal(readRedisFailure(new Error(`${word} and more`)).kind, 'notActed')
    for (const text of ['ERR something', 'Socket closed unexpectedly', 'UNKILLABLE x'])
      assert.equal(readRedisFailure(new Error(text)).kind, 'unknown')
    assert.equal(readRedisFailure('text').kind, 'unknown')
  })
})

describe('the contract of a transport', () => {
  const of = (options: object, brokerRemembers: '2m' | null = null) =>
    transport(
      'events',
      saying({ kind: 'unknown', why: '' }),
      { source: '/shop', ...options },
      brokerRemembers,
    ).contract

  test('lets a message be sent again as long as consumers remember its id', () => {
    assert.equal(of({}).idempotency?.remembersFor, 'forever')
    assert.equal(of({ consumersRemember: '30d' }).idempotency?.remembersFor, '30d')
  })

  test('where they do not, as long as the broker drops it; and where that does not either, never', () => {
    assert.equal(of({ consumersRemember: 'nothing' }, '2m').idempotency?.remembersFor, '2m')
    assert.equal(of({ consumersRemember: 'nothing' }).idempotency, undefined)
  })

  test('takes effects in turn where it is told to, and says so in words', () => {
    assert.equal((of({ inTurn: true }) as { ordering?: { inTurn?: true } }).ordering?.inTurn, true)
    assert.ok(contractInWords(of({ inTurn: true })).some((line) => line.includes('every earlier version')))
    assert.ok(contractInWords(of({})).some((line) => line.includes('no effect may claim order')))
  })

  test('is typed: an effect claims an order where its transport takes them in turn, and nowhere else', () => {
    const broker = new MemoryBroker()
    const about = { payload: z.object({}), request: () => ({ to: 'orders', type: 'order.paid' }) }
    const ordered: true = transport('a', broker.publisher(), { source: '/s', inTurn: true }).effect(
      'x',
      about,
    ).ordered
    const unordered: false = transport('b', broker.publisher(), { source: '/s' }).effect('x', about).ordered
    assert.deepEqual([ordered, unordered], [true, false])
  })
})

describe('a message', () => {
  test('is the same bytes at every attempt, whatever its data is', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), fc.nat(), (data, version) => {
        const stored = JSON.parse(JSON.stringify(toStored({ to: 'a', type: 't', data: data as never }, '/s')))
        const order = { domain: 'customer/ann', version }
        assert.deepEqual(toMessage(stored, key, order), toMessage(stored, key, order))
      }),
    )
  })

  test('carries its place in the order, so that a reader can tell what came late', () => {
    const { event } = toMessage(toStored({ to: 'a', type: 't' }, '/s'), key, { domain: 'ann', version: 7 })
    assert.deepEqual(
      [event.partitionkey, event.sequence, event.sequencetype, event.id],
      ['ann', '7', 'Integer', key],
    )
  })

  test('of another source is another one to the broker, also under the same id', () => {
    const of = (source: string, id = 'one') =>
      toMessage(toStored({ to: 'a', type: 't' }, source), id as never, null)
    assert.notEqual(of('/a').duplicateId, of('/b').duplicateId)
    assert.notEqual(of('/a').duplicateId, of('/a', 'two').duplicateId)
    assert.match(of('/a').duplicateId, /^[\w-]{46}$/)
  })

  for (const [what, bad] of [
    ['without a type', { to: 'a', type: '' }],
    ['that goes nowhere', { to: '', type: 't' }],
    ['with an attribute that Counterfoil writes', { to: 'a', type: 't', attributes: { id: 'mine' } }],
    ['with an attribute of no valid name', { to: 'a', type: 't', attributes: { 'X-Y': '1' } }],
  ] as const) {
    test(`${what} fails at planning`, () => {
      assert.throws(() => toStored(bad, '/s'), { code: 'effect_payload_invalid' })
    })
  }
})
