import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CounterfoilError } from '../domain/index.ts'
import { cloudEvents } from '../intake/cloudevents/index.ts'
import { testIntake } from '../intake/fixtures/intake.ts'
import { producer } from '../intake/producer.ts'
import { createReceive } from '../intake/receive.ts'
import type { Store } from '../store/index.ts'
import type { BrokerMessage } from './consumer.ts'
import { consumerPorts } from './consumer-ports.ts'
import { withDeliveryLimit } from './delivery-limit.ts'
import { plainMessages } from './plain-messages.ts'
import { againMs, takeMessage } from './take-message.ts'

const orders = producer('orders', cloudEvents({ anyone: true }), { maxBytes: 200 })
const numbered = producer(
  'numbered',
  plainMessages({ id: { header: 'Nats-Msg-Id' }, type: { pointer: '/kind' } }),
)
const receipt = 'rcp_1' as never
const committed: Store['accept'] = async () => ({
  outcome: 'accepted',
  receipt,
  outbox: 1,
  sameContentAs: null,
})

const event: BrokerMessage = {
  headers: {
    'ce-specversion': '1.0',
    'ce-id': '1',
    'ce-source': '/shop',
    'ce-type': 'order.paid',
    'content-type': 'application/json',
  },
  body: Buffer.from('{"n":1}'),
  deliveries: 1,
  position: 'ORDERS 17',
}

function intake(accept: Store['accept'], name = 'orders', about: Parameters<typeof testIntake>[1] = {}) {
  const made = testIntake(accept, {
    producers: [orders, numbered],
    types: [orders.event('order.paid'), numbered.event('order.paid')],
    ...about,
  })
  const { receiveArrival } = createReceive(made.ports)
  return { ...made, take: takeMessage(name, receiveArrival), receiveArrival }
}

describe('a message', () => {
  for (const outcome of ['accepted', 'duplicate', 'quarantined', 'conflict'] as const) {
    test(`is acknowledged once its receipt is committed, also as ${outcome}`, async () => {
      const { take } = intake(async () => ({ ...(await committed(null as never)), outcome }) as never)
      assert.deepEqual(await take(event), { kind: 'acknowledge' })
    })
  }

  test('becomes a receipt with the producer as its namespace, and source and id as its identity', async () => {
    const { take, entries } = intake(committed)
    await take(event)
    const { namespace, source, eventId, type } = entries[0]!.receipt
    assert.deepEqual([namespace, source, eventId, type], ['orders', '/shop', '1', 'order.paid'])
  })

  test('is the same event wherever it lies at the broker', async () => {
    const { take, entries } = intake(committed)
    await take(event)
    await take({ ...event, position: 'ORDERS 99', deliveries: 4 })
    assert.equal(entries[0]!.receipt.delivery, entries[1]!.receipt.delivery)
    assert.equal(entries[0]!.receipt.fingerprint, entries[1]!.receipt.fingerprint)
  })

  for (const code of ['store_unavailable', 'commit_unknown', 'store_full'] as const) {
    test(`comes again when the store says ${code}, later each time`, async () => {
      const { take } = intake(async () => {
        throw new CounterfoilError(code, 'away')
      })
      const waits: number[] = []
      for (const deliveries of [1, 3, 9, 1_000]) {
        const verdict = await take({ ...event, deliveries })
        assert.ok(verdict.kind === 'again')
        waits.push(verdict.afterMs)
      }
      // The answer's own Retry-After is 2 s.
      assert.deepEqual(waits, [2_000, 2_000, againMs.last, againMs.last])
    })
  }

  test('comes again when more are in work than may be, and when too many receipts wait', async () => {
    const crowded = intake(committed, 'orders', { inFlightLimit: 0 })
    assert.equal((await crowded.take(event)).kind, 'again')
    const behind = intake(committed, 'orders', { backlogLimit: 5 })
    behind.ports.store.backlog = async () => 6
    await behind.take(event)
    await new Promise((resolve) => setImmediate(resolve))
    const verdict = await behind.take(event)
    assert.ok(verdict.kind === 'again' && verdict.afterMs >= 10_000)
  })

  for (const [what, bad, code] of [
    ['that is no CloudEvent', { ...event, headers: { ...event.headers, 'ce-source': '' } }, 'syntax_invalid'],
    ['whose body is broken', { ...event, body: Buffer.from('{') }, 'syntax_invalid'],
    ['that is too large', { ...event, body: Buffer.alloc(201, ' ') }, 'body_too_large'],
  ] as const) {
    test(`${what} is refused for good`, async () => {
      const { take, entries, counters } = intake(committed)
      const verdict = await take(bad)
      assert.deepEqual([verdict.kind, verdict.kind === 'reject' && verdict.code], ['reject', code])
      assert.deepEqual(entries, [])
      assert.equal(counters.get(`orders ${code}`), 1)
    })
  }

  test('that is refused leaves a line with its place and its code, and nothing of its content', async () => {
    const { receiveArrival, clock, log, ports } = intake(committed)
    const { take } = consumerPorts({
      producer: 'orders',
      broker: 'nats',
      receive: receiveArrival,
      clock,
      log: ports.log,
    })
    for (let n = 0; n < 50; n++) await take({ ...event, body: Buffer.from('{"card":4242') })
    const lines = log.filter(({ message }) => message.startsWith('a message was refused'))
    assert.equal(lines.length, 10, 'a flood is only counted')
    assert.deepEqual(
      [lines[0]!.fields.position, lines[0]!.fields.code, lines[0]!.fields.producer],
      ['ORDERS 17', 'syntax_invalid', 'orders'],
    )
    assert.ok(!JSON.stringify(log).includes('4242'))
  })
})

describe('a message that is no CloudEvent', () => {
  const plain: BrokerMessage = {
    headers: { 'nats-msg-id': 'order-7' },
    body: Buffer.from('{"kind":"order.paid"}'),
    deliveries: 1,
    position: 'ORDERS 3',
  }

  test('is told by the id that its sender gave it', async () => {
    const { take, entries } = intake(committed, 'numbered')
    assert.deepEqual(await take(plain), { kind: 'acknowledge' })
    const { eventId, type, provenance } = entries[0]!.receipt
    assert.deepEqual([eventId, type, provenance], ['order-7', 'order.paid', 'unsigned'])
  })

  test('and has none is refused as such', async () => {
    const { take } = intake(committed, 'numbered')
    const verdict = await take({ ...plain, headers: {} })
    assert.ok(verdict.kind === 'reject')
    assert.equal(verdict.code, 'identity_invalid')
  })

  for (const header of ['kafka-offset', 'Nats-Stream-Sequence', 'Nats-Sequence', 'x-stream-offset'])
    test(`may not be told by where it lies: ${header}`, () => {
      assert.throws(() => plainMessages({ id: { header }, type: 't' }), { code: 'config_invalid' })
    })
})

test('a message that was handed over too often is put aside without another try', async () => {
  const tried: number[] = []
  const take = withDeliveryLimit(async ({ deliveries }) => {
    tried.push(deliveries)
    return { kind: 'acknowledge' }
  }, 3)
  assert.deepEqual(await take({ ...event, deliveries: 3 }), { kind: 'acknowledge' })
  const verdict = await take({ ...event, deliveries: 4 })
  assert.deepEqual([verdict.kind, tried], ['reject', [3]])
  assert.equal(withDeliveryLimit(take, undefined), take)
})
