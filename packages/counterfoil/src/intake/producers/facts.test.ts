import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonValue } from '../../domain/index.ts'
import {
  deliveryOf,
  standardHeaders,
  standardKey,
  standardSecret,
  stripeHeaders,
} from '../fixtures/senders.ts'
import type { ProducerKind } from '../producer.ts'
import { github, standardWebhooks, stripe } from './index.ts'

const facts = (kind: ProducerKind, payload: JsonValue | undefined, headers: Record<string, string> = {}) =>
  kind.facts(payload, deliveryOf(headers, ''))

describe('Standard Webhooks: what an event says', () => {
  const kind = standardWebhooks({ secrets: standardSecret })

  test('id from the signed header; type, time and data from the body', () => {
    const payload = { type: 'invoice.paid', timestamp: '2022-11-03T20:26:10.344522Z', data: { id: 1 } }
    assert.deepEqual(facts(kind, payload, { 'webhook-id': 'msg_1' }), {
      id: 'msg_1',
      source: 'standard-webhooks',
      type: 'invoice.paid',
      version: null,
      at: Date.parse('2022-11-03T20:26:10.344Z'),
    })
    assert.deepEqual(kind.data(payload), { id: 1 })
  })

  test('without data the whole body is the data; null is data', () => {
    assert.deepEqual(kind.data({ type: 't', id: 1 }), { type: 't', id: 1 })
    assert.equal(kind.data({ type: 't', data: null }), null)
    assert.deepEqual(kind.data([1]), [1])
  })

  test('a body of any shape names a type or none, and a time or none', () => {
    for (const payload of [null, 1, 'x', [], {}, { type: 1 }, { type: '' }, { type: null }, ['type']]) {
      assert.equal(facts(kind, payload).type, null)
    }
    // Without an offset it would mean another time on another machine.
    for (const timestamp of [
      '2022-11-03T20:26:10',
      '2022-11-03',
      'soon',
      '',
      '9999999-01-01T00:00:00Z',
      null,
      {},
      1e300,
    ]) {
      assert.equal(facts(kind, { timestamp }).at, null, JSON.stringify(timestamp))
    }
  })

  test('svix headers name the id where both families are there', () => {
    const headers = { 'webhook-id': 'a', 'svix-id': 'b', 'svix-signature': 'v1,x' }
    assert.equal(facts(kind, {}, headers).id, 'b')
  })

  test('the id that is verified is the id that is stored, whichever family is incomplete', () => {
    const now = 1_700_000_000
    const good = standardHeaders('msg_1', now, '{}', standardKey)
    for (const extra of [
      { 'svix-id': 'x' },
      { 'svix-timestamp': String(now) },
      { 'svix-signature': 'v1,x' },
    ]) {
      assert.equal(kind.verify(deliveryOf({ ...good, ...extra }, '{}'), now * 1000).kind, 'refused')
    }
  })

  test('a header holds bytes: an id beyond ASCII is verified as it came', () => {
    const now = 1_700_000_000
    const id = 'msg_é'
    const wire = Buffer.from(id).toString('latin1')
    const headers = { ...standardHeaders(id, now, '{}', standardKey), 'webhook-id': wire }
    assert.equal(kind.verify(deliveryOf(headers, '{}'), now * 1000).kind, 'verified')
  })
})

describe('Stripe: what an event says', () => {
  const kind = stripe({ secrets: 'whsec_x' })

  test('a snapshot event', () => {
    const payload = {
      id: 'evt_1',
      type: 'invoice.paid',
      account: 'acct_9',
      api_version: '2025-06-30',
      created: 1_686_089_970,
      pending_webhooks: 3,
      data: { object: { id: 'in_1' }, previous_attributes: {} },
    }
    assert.deepEqual(facts(kind, payload), {
      id: 'evt_1',
      source: 'acct_9',
      type: 'invoice.paid',
      version: '2025-06-30',
      at: 1_686_089_970_000,
    })
    assert.deepEqual(kind.data(payload), { id: 'in_1' })
    assert.deepEqual(kind.volatile, ['/pending_webhooks'])
  })

  test('a thin event has no data: the whole of it is the data', () => {
    const payload = {
      id: 'evt_2',
      object: 'v2.core.event',
      type: 'v1.billing.meter.error_report_triggered',
      created: '2024-09-17T06:20:52.246Z',
      context: null,
      related_object: { id: 'mtr_1' },
    }
    const told = facts(kind, payload)
    assert.deepEqual([told.source, told.version, told.at], ['stripe', null, Date.parse(payload.created)])
    assert.equal(kind.data(payload), payload)
  })

  test('a payload that cannot be read tells nothing', () => {
    assert.deepEqual(facts(kind, undefined), {
      id: null,
      source: 'stripe',
      type: null,
      version: null,
      at: null,
    })
  })

  test('a header that was sent twice is refused, and so is what follows a signature', () => {
    const now = 1_700_000_000
    const headers = stripeHeaders(now, '{}', 'whsec_x')
    const verify = (signature: string) =>
      kind.verify(deliveryOf({ ...headers, 'stripe-signature': signature }, '{}'), now * 1000)
    const good = headers['stripe-signature']
    assert.equal(verify(good).kind, 'verified')
    for (const bad of [
      `${good}, ${good}`,
      `${good},${good}`,
      `${good}=`,
      `${good}=00`,
      `t=${now}=0,${good}`,
    ]) {
      assert.equal(verify(bad).kind, 'refused', bad)
    }
  })
})

describe('GitHub: what an event says', () => {
  const kind = github({ secrets: 's' })

  test('id and type are in headers that the signature does not cover, and the producer says so', () => {
    const headers = { 'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958', 'x-github-event': 'push' }
    assert.equal(kind.provenance, 'unsigned')
    assert.deepEqual(facts(kind, { ref: 'x' }, headers), {
      id: headers['x-github-delivery'],
      source: 'github',
      type: 'push',
      version: null,
      at: null,
    })
    assert.deepEqual(kind.data({ ref: 'x' }), { ref: 'x' })
  })

  test('a header that is missing, empty, repeated or long names nothing', () => {
    for (const value of [undefined, '', 'a, a', 'a b', 'x'.repeat(129), 'é']) {
      const headers = value === undefined ? {} : { 'x-github-delivery': value, 'x-github-event': value }
      const { id, type } = facts(kind, {}, headers as Record<string, string>)
      assert.deepEqual([id, type], [null, null], value)
    }
  })
})
