import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { z } from 'zod'
import { systemRandom } from '../ambient.ts'
import { noTracing } from '../domain/index.ts'
import type { Acceptance, SqlExecutor } from '../store/index.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import { acceptAll, now, standard, testIntake, vault } from './fixtures/intake.ts'
import { standardRequest } from './fixtures/senders.ts'
import { internal } from './internal.ts'
import { eventTypes } from './producer.ts'
import { publish } from './publish.ts'

// What a store makes of it is in its conformance suite; here is what the store is asked.

const orders = internal('orders', { maxBytes: 200 })
const Order = z.object({ id: z.string(), plan: z.string().default('pro'), at: z.coerce.date().optional() })
const placed = orders.event('order.placed', { schema: Order })
const free = orders.event('order.free')
const executor: SqlExecutor = { dialect: 'sqlite', query: async () => [] }

function publisher() {
  const entries: Acceptance[] = []
  const ports = {
    producers: new Map([[orders.name, orders]]),
    types: eventTypes([placed, free]),
    store: {
      acceptIn: (_: SqlExecutor, entry: Acceptance) => {
        entries.push(entry)
        return acceptAll(entry)
      },
    },
    vault,
    clock: new VirtualClock(now * 1000),
    random: systemRandom,
    ownerOf: (name: string) => `owner of ${name}`,
    tracing: noTracing,
  }
  const send = (event: Parameters<typeof publish>[2]) => publish(ports, executor, event)
  return { entries, send }
}

test('an event is written as a delivery is: the same members, its payload sealed, nothing leased', async () => {
  const { entries, send } = publisher()
  const data = { id: '7', at: new Date(0) }
  const accepted = await send({ type: placed, data, id: 'order/7/placed' })
  const [entry] = entries
  assert.ok(entry)
  const { receipt } = entry
  assert.deepEqual(
    [
      receipt.producer,
      receipt.namespace,
      receipt.source,
      receipt.eventId,
      receipt.type,
      receipt.schemaVersion,
    ],
    ['orders', 'orders', 'orders', 'order/7/placed', 'order.placed', null],
  )
  assert.deepEqual([receipt.receivedAt, receipt.eventAt, receipt.origin], [now * 1000, now * 1000, 'live'])
  assert.deepEqual(entry.next, { kind: 'plan', handOff: null })
  assert.equal(entry.onConflict.owner, 'owner of orders')
  // The input, as JSON has it: the schema's output is made anew when it is planned.
  const kept = Buffer.from(vault.open(entry.payload, receipt.id)).toString()
  assert.equal(kept, '{"id":"7","at":"1970-01-01T00:00:00.000Z"}')
  assert.deepEqual(accepted, {
    outcome: 'accepted',
    receipt: receipt.id,
    outbox: 7,
    sameContentAs: null,
  })

  const intake = testIntake(acceptAll)
  await intake.receive(standardRequest('msg_1', now, '{"type":"invoice.paid","data":{}}'))
  const [delivered] = intake.entries
  assert.deepEqual(Object.keys(entry), Object.keys(delivered!))
  assert.deepEqual(Object.keys(receipt), Object.keys(delivered!.receipt))
})

describe('identity', () => {
  test('a repeated call is the same event, with an id and without, however its members are ordered', async () => {
    const { entries, send } = publisher()
    await send({ type: placed, data: { id: '7', plan: 'pro' } })
    await send({ type: placed, data: { plan: 'pro', id: '7' } })
    await send({ type: placed, data: { id: '7', plan: 'pro' }, id: 'order/7' })
    await send({ type: placed, data: { id: '8', plan: 'pro' }, id: 'order/7' })
    const [one, again, named, other] = entries.map(({ receipt }) => receipt)
    assert.equal(one!.delivery, again!.delivery)
    assert.equal(one!.fingerprint, again!.fingerprint)
    assert.notEqual(one!.delivery, named!.delivery)
    assert.equal(named!.delivery, other!.delivery)
    assert.notEqual(named!.fingerprint, other!.fingerprint)
  })

  test('the same data of another type is another event', async () => {
    const { entries, send } = publisher()
    await send({ type: placed, data: { id: '7' } })
    await send({ type: free, data: { id: '7' } })
    assert.notEqual(entries[0]!.receipt.delivery, entries[1]!.receipt.delivery)
  })
})

describe('refused before anything is written', () => {
  const cycle: Record<string, unknown> = {}
  cycle.self = cycle
  const stranger = internal('orders').event('order.placed', { schema: Order })
  const refusals: [string, Parameters<typeof publish>[2], { code: string; message: RegExp }][] = [
    [
      'data that does not fit',
      { type: placed, data: { plan: 'pro' } },
      { code: 'event_invalid', message: /\/id: / },
    ],
    [
      'nothing at all',
      { type: free, data: undefined },
      { code: 'event_invalid', message: /undefined is no JSON/ },
    ],
    ['a bigint', { type: free, data: { n: 1n } }, { code: 'event_invalid', message: /JSON cannot hold/ }],
    ['a cycle', { type: free, data: cycle }, { code: 'event_invalid', message: /JSON cannot hold/ }],
    ['half of a pair', { type: free, data: '\ud800' }, { code: 'event_invalid', message: /surrogate/ }],
    [
      'more than the limit',
      { type: free, data: 'x'.repeat(199) },
      { code: 'event_invalid', message: /200 bytes/ },
    ],
    ['NaN', { type: placed, data: { id: Number.NaN } }, { code: 'event_invalid', message: /\/id: / }],
    [
      'an empty id',
      { type: free, data: 1, id: '' },
      { code: 'identity_invalid', message: /id of the event is empty/ },
    ],
    [
      'a type that no trigger subscribes to',
      { type: orders.event('order.lost'), data: 1 },
      { code: 'event_unknown', message: /no trigger/ },
    ],
    [
      'a producer that the configuration does not have',
      { type: stranger, data: { id: '7' } },
      { code: 'event_unknown', message: /producer 'orders'/ },
    ],
  ]
  for (const [what, event, told] of refusals) {
    test(what, async () => {
      const { entries, send } = publisher()
      await assert.rejects(send(event), told)
      assert.deepEqual(entries, [])
    })
  }

  test('an event that is as large as the limit is taken', async () => {
    const { entries, send } = publisher()
    await send({ type: free, data: 'x'.repeat(198) })
    assert.equal(entries[0]?.receipt.bytes, 200)
  })
})

test('nothing is received over the wire for the program’s own producer', async () => {
  const intake = testIntake(acceptAll, {
    producers: [orders],
    types: [standard.event('invoice.paid'), placed],
  })
  const delivery = standardRequest('msg_1', now, '{"id":"7"}', { path: 'orders' })
  const answer = await intake.receive(delivery)
  assert.equal(answer.status, 404)
  assert.deepEqual(intake.entries, [])
})
