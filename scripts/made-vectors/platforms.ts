import { createHash } from 'node:crypto'
import { config, form, hmac, json, type Made, now, secret } from './made.ts'

const meta = (value: object) => {
  const body = JSON.stringify(value)
  return { headers: { ...json, 'X-Hub-Signature-256': `sha256=${hmac(body, 'hex')}` }, body }
}

const twilioUrl = 'https://hooks.example/in/twilio'

const twilioForm = (fields: Record<string, string>) => {
  const signed =
    twilioUrl +
    Object.keys(fields)
      .sort()
      .map((name) => name + fields[name])
      .join('')
  return {
    url: twilioUrl,
    headers: { ...form, 'X-Twilio-Signature': hmac(signed, 'base64', secret, 'sha1') },
    body: String(new URLSearchParams(fields)),
  }
}

const twilioStream = JSON.stringify([
  {
    specversion: '1.0',
    type: 'com.twilio.messaging.message.sent',
    source: '/2010-04-01/Accounts/AC1/Messages/SM1.json',
    id: 'EZ1',
    dataschema: 'https://events-schemas.twilio.com/Messaging.MessageStatus/1',
    time: '2026-01-01T00:00:00.000Z',
    data: { messageSid: 'SM1' },
  },
  {
    specversion: '1.0',
    type: 'com.twilio.messaging.message.delivered',
    source: '/2010-04-01/Accounts/AC1/Messages/SM1.json',
    id: 'EZ2',
    dataschema: 'https://events-schemas.twilio.com/Messaging.MessageStatus/1',
    time: '2026-01-01T00:00:01.000Z',
    data: { messageSid: 'SM1' },
  },
])

const twilioStreamUrl = `${twilioUrl}?bodySHA256=${createHash('sha256').update(twilioStream).digest('hex')}`

const hubspotUrl = 'https://hooks.example/in/hubspot'

const hubspotEvent = {
  eventId: 1,
  subscriptionId: 12345,
  portalId: 62515,
  appId: 54321,
  occurredAt: 1767225600000,
  subscriptionType: 'contact.creation',
  attemptNumber: 0,
  objectId: 123,
}

const hubspotBody = JSON.stringify([
  hubspotEvent,
  { ...hubspotEvent, objectId: 124, subscriptionType: 'contact.propertyChange', propertyName: 'email' },
])

export const platforms: Readonly<Record<string, readonly Made[]>> = {
  hubspot: [
    {
      why: 'two events that share their eventId',
      config: { ...config, publicUrl: hubspotUrl },
      url: hubspotUrl,
      headers: {
        ...json,
        'X-HubSpot-Request-Timestamp': `${now}000`,
        'X-HubSpot-Signature-v3': hmac(`POST${hubspotUrl}${hubspotBody}${now}000`, 'base64'),
      },
      body: hubspotBody,
      events: [
        { id: '62515/12345/1/123/1767225600000/', source: '62515', type: 'contact.creation' },
        { id: '62515/12345/1/124/1767225600000/email', source: '62515', type: 'contact.propertyChange' },
      ],
    },
  ],
  meta: [
    {
      why: 'WhatsApp: two messages and a status in one delivery',
      config: { ...config, verifyTokens: ['token'] },
      ...meta({
        object: 'whatsapp_business_account',
        entry: [
          {
            id: 'waba-1',
            changes: [
              {
                field: 'messages',
                value: {
                  metadata: { phone_number_id: '1' },
                  messages: [
                    { id: 'wamid.1', timestamp: String(now), type: 'text' },
                    { id: 'wamid.2', timestamp: String(now), type: 'text' },
                  ],
                },
              },
              {
                field: 'messages',
                value: {
                  metadata: { phone_number_id: '1' },
                  statuses: [{ id: 'wamid.0', status: 'read', timestamp: String(now) }],
                },
              },
            ],
          },
        ],
      }),
      events: [
        { id: 'wamid.1', source: 'waba-1', type: 'whatsapp_business_account.messages' },
        { id: 'wamid.2', source: 'waba-1', type: 'whatsapp_business_account.messages' },
        { id: `read/${now}/wamid.0`, source: 'waba-1', type: 'whatsapp_business_account.statuses' },
      ],
    },
    {
      why: 'Messenger and a change of a page',
      config: { ...config, verifyTokens: ['token'] },
      ...meta({
        object: 'page',
        entry: [
          {
            id: 'page-1',
            time: now,
            messaging: [{ timestamp: now * 1000, message: { mid: 'mid.1', text: 'hi' } }],
          },
          { id: 'page-1', time: now, changes: [{ field: 'feed', value: { item: 'post', verb: 'add' } }] },
        ],
      }),
      events: [
        { id: 'mid.1', source: 'page-1', type: 'page.messaging' },
        { source: 'page-1', type: 'page.feed' },
      ],
    },
    {
      why: 'the challenge',
      config: { ...config, verifyTokens: ['a-token'] },
      method: 'GET',
      url: 'https://hooks.example/in/meta?hub.mode=subscribe&hub.verify_token=a-token&hub.challenge=42',
      answer: { status: 200, headers: { 'content-type': 'text/plain' }, body: '42' },
    },
  ],
  twilio: [
    {
      why: 'the status of a message',
      config: { ...config, publicUrl: twilioUrl },
      ...twilioForm({
        MessageSid: 'SM1',
        MessageStatus: 'delivered',
        AccountSid: 'AC1',
        ApiVersion: '2010-04-01',
        To: '+15550100',
      }),
      events: [{ id: 'delivered/SM1', source: 'AC1', type: 'message.delivered', version: '2010-04-01' }],
    },
    {
      why: 'a call: one may ask many times with the same status',
      config: { ...config, publicUrl: twilioUrl },
      ...twilioForm({
        CallSid: 'CA1',
        CallStatus: 'in-progress',
        AccountSid: 'AC1',
        ApiVersion: '2010-04-01',
        Digits: '1',
      }),
      events: [{ source: 'AC1', type: 'call.in-progress', version: '2010-04-01' }],
    },
    {
      why: 'Event Streams: two events',
      config: { ...config, publicUrl: twilioUrl },
      url: twilioStreamUrl,
      headers: { ...json, 'X-Twilio-Signature': hmac(twilioStreamUrl, 'base64', secret, 'sha1') },
      body: twilioStream,
      events: [
        {
          id: 'EZ1',
          source: '/2010-04-01/Accounts/AC1/Messages/SM1.json',
          type: 'com.twilio.messaging.message.sent',
          version: 'https://events-schemas.twilio.com/Messaging.MessageStatus/1',
        },
        {
          id: 'EZ2',
          source: '/2010-04-01/Accounts/AC1/Messages/SM1.json',
          type: 'com.twilio.messaging.message.delivered',
          version: 'https://events-schemas.twilio.com/Messaging.MessageStatus/1',
        },
      ],
    },
  ],
}
