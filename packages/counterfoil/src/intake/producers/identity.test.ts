import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fingerprintJson, type JsonValue } from '../../domain/index.ts'
import { deliveryOf } from '../fixtures/senders.ts'
import { kindOf, vectorsOf } from '../fixtures/vectors.ts'

/** The identity and fingerprint that a delivery would get, from its payload as JSON. */
function told(
  name: string,
  payload: JsonValue,
  about: { headers?: Record<string, string>; config?: object } = {},
) {
  const { config } = vectorsOf(name).find((vector) => vector.expect === 'accept')!
  const kind = kindOf[name]!({ ...config, ...about.config })
  const delivery = deliveryOf(about.headers ?? {}, '')
  const elements = kind.events?.(payload, delivery) ?? [payload]
  return elements.map((element) => {
    const { id, source } = kind.facts(element, delivery)
    assert.notEqual(id, null, `${name} has no identity`)
    return { id, source, fingerprint: fingerprintJson(element, { volatile: kind.volatile }) }
  })
}

describe('attempts of one event are one event, with one content', () => {
  const attempts: Readonly<Record<string, readonly [JsonValue, JsonValue, object?]>> = {
    intercom: [
      { id: null, topic: 'ping', app_id: 'a', delivery_attempts: 1, delivered_at: 0 },
      { id: null, topic: 'ping', app_id: 'a', delivery_attempts: 2, delivered_at: 5 },
    ],
    docusign: [
      { event: 'e', generatedDateTime: 't', retryCount: 0, data: { envelopeId: 'x' } },
      { event: 'e', generatedDateTime: 't', retryCount: 3, data: { envelopeId: 'x' } },
    ],
    linear: [
      { type: 'Issue', action: 'create', webhookTimestamp: 1 },
      { type: 'Issue', action: 'create', webhookTimestamp: 2 },
      { 'linear-delivery': 'd' },
    ],
    stripe: [
      { id: 'evt_1', type: 't', pending_webhooks: 2 },
      { id: 'evt_1', type: 't', pending_webhooks: 1 },
    ],
    paddle: [
      { event_id: 'evt_1', notification_id: 'ntf_1' },
      { event_id: 'evt_1', notification_id: 'ntf_2' },
    ],
    'google-pubsub': [
      { message: { messageId: '1' }, subscription: 's', deliveryAttempt: 1 },
      { message: { messageId: '1' }, subscription: 's', deliveryAttempt: 2 },
    ],
    'aws-sns': [
      { Type: 'Notification', MessageId: '1', SignatureVersion: '1', Signature: 'a', SigningCertURL: 'x' },
      { Type: 'Notification', MessageId: '1', SignatureVersion: '2', Signature: 'b', SigningCertURL: 'y' },
    ],
    hubspot: [
      [{ portalId: 1, subscriptionId: 2, eventId: 3, objectId: 4, occurredAt: 5, attemptNumber: 0 }],
      [{ portalId: 1, subscriptionId: 2, eventId: 3, objectId: 4, occurredAt: 5, attemptNumber: 1 }],
    ],
    mailgun: [
      { signature: { timestamp: '1', token: 'a' }, 'event-data': { id: 'x', event: 'opened' } },
      { signature: { timestamp: '2', token: 'b' }, 'event-data': { id: 'x', event: 'opened' } },
    ],
  }
  for (const [name, [first, second, headers]] of Object.entries(attempts)) {
    test(name, () => {
      const about = { headers: headers as Record<string, string> }
      assert.deepEqual(told(name, first, about), told(name, second, about))
    })
  }
})

describe('two events are never taken for one', () => {
  const events: Readonly<Record<string, readonly [string, JsonValue, JsonValue]>> = {
    'two people who join one meeting in the same millisecond': [
      'zoom',
      {
        event: 'meeting.participant_joined',
        event_ts: 1,
        payload: { object: { uuid: 'm', participant: { id: 1 } } },
      },
      {
        event: 'meeting.participant_joined',
        event_ts: 1,
        payload: { object: { uuid: 'm', participant: { id: 2 } } },
      },
    ],
    'two clicks in one message': [
      'postmark',
      { RecordType: 'Click', MessageID: 'm', OriginalLink: 'a' },
      { RecordType: 'Click', MessageID: 'm', OriginalLink: 'b' },
    ],
    'a bounce and a complaint of one number': [
      'postmark',
      { RecordType: 'Bounce', ID: 1 },
      { RecordType: 'SpamComplaint', ID: 1 },
    ],
    'authorisation and capture of one payment': [
      'adyen',
      {
        notificationItems: [
          { NotificationRequestItem: { pspReference: 'p', eventCode: 'AUTHORISATION', success: 'true' } },
        ],
      },
      {
        notificationItems: [
          { NotificationRequestItem: { pspReference: 'p', eventCode: 'CAPTURE', success: 'true' } },
        ],
      },
    ],
    'two keys that were pressed in one call': [
      'twilio',
      { CallSid: 'c', CallStatus: 'in-progress', Digits: '1' },
      { CallSid: 'c', CallStatus: 'in-progress', Digits: '2' },
    ],
    'sent and delivered, of one message': [
      'twilio',
      { MessageSid: 'm', MessageStatus: 'sent' },
      { MessageSid: 'm', MessageStatus: 'delivered' },
    ],
    'two events of HubSpot with one number': [
      'hubspot',
      [{ portalId: 1, subscriptionId: 2, eventId: 3, objectId: 4, occurredAt: 5 }],
      [{ portalId: 1, subscriptionId: 2, eventId: 3, objectId: 5, occurredAt: 5 }],
    ],
    'delivered and read, of one WhatsApp message': ['meta', whatsApp('delivered'), whatsApp('read')],
    'two changes of one page': ['meta', pageChange(1), pageChange(2)],
  }
  for (const [what, [name, one, other]] of Object.entries(events)) {
    test(what, () => assert.notEqual(told(name, one)[0]!.id, told(name, other)[0]!.id))
  }

  test('the same content of Plaid at another time: it may honestly come again', () => {
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const at = (iat: number) => ({
      headers: { 'plaid-verification': `${encode({ alg: 'ES256' })}.${encode({ iat })}.x` },
    })
    const payload = { webhook_type: 'TRANSACTIONS', webhook_code: 'SYNC_UPDATES_AVAILABLE', item_id: 'i' }
    assert.deepEqual(told('plaid', payload, at(1)), told('plaid', payload, at(1)))
    assert.notEqual(told('plaid', payload, at(1))[0]!.id, told('plaid', payload, at(2))[0]!.id)
  })
})

function whatsApp(status: string): JsonValue {
  const value = { statuses: [{ id: 'wamid', status, timestamp: '1' }] }
  return {
    object: 'whatsapp_business_account',
    entry: [{ id: '1', changes: [{ field: 'messages', value }] }],
  }
}

function pageChange(time: number): JsonValue {
  return { object: 'page', entry: [{ id: '1', time, changes: [{ field: 'feed', value: { item: 'like' } }] }] }
}
