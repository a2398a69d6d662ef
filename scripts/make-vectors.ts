import { createHash, createHmac, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Signs deliveries as their producers' documentation says, apart from the verifiers, with secrets that guard nothing:
 *
 *     npx node scripts/make-vectors.ts
 *
 * What each event must be taken for is written here by hand.
 */

const directory = join(import.meta.dirname, '../vectors/made')
const now = 1_767_225_600
const secret = 'a secret that only these vectors know'
const config = { secrets: [secret] }

interface Event {
  /** Absent: the payload has none. */
  readonly id?: string
  readonly source: string
  readonly type: string | null
  readonly version?: string
}

interface Made {
  readonly why: string
  readonly config: object
  readonly headers?: Record<string, string>
  readonly body?: string
  readonly method?: string
  readonly url?: string
  readonly events?: readonly Event[]
  readonly answer?: object
}

const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }
type Encoding = 'hex' | 'base64'
const hmac = (text: string, encoding: Encoding, key: string | Buffer = secret, algorithm = 'sha256') =>
  createHmac(algorithm, key).update(text).digest(encoding)

// PKCS #8 of an Ed25519 seed (RFC 8410 section 7).
const seed = createHash('sha256').update('a seed that only these vectors know').digest()
const privateKey: KeyObject = createPrivateKey({
  key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]),
  format: 'der',
  type: 'pkcs8',
})
const publicKey = createPublicKey(privateKey)
const rawPublicKey = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url')
const ed25519 = (text: string) => sign(null, Buffer.from(text), privateKey)

const standardKey = createHash('sha256').update(secret).digest()
const standardConfig = { secrets: [`whsec_${standardKey.toString('base64')}`] }
const standard = (id: string, body: string, family = 'webhook') => ({
  ...json,
  [`${family}-id`]: id,
  [`${family}-timestamp`]: String(now),
  [`${family}-signature`]: `v1,${hmac(`${id}.${now}.${body}`, 'base64', standardKey)}`,
})
const invoicePaid = JSON.stringify({
  type: 'invoice.paid',
  timestamp: '2026-01-01T00:00:00Z',
  data: { id: 'in_1' },
})

const slack = (body: string, type: object = json): Pick<Made, 'headers' | 'body'> => ({
  headers: {
    ...type,
    'X-Slack-Request-Timestamp': String(now),
    'X-Slack-Signature': `v0=${hmac(`v0:${now}:${body}`, 'hex')}`,
  },
  body,
})
const zoom = (body: string) => ({
  headers: {
    ...json,
    'x-zm-request-timestamp': String(now),
    'x-zm-signature': `v0=${hmac(`v0:${now}:${body}`, 'hex')}`,
  },
  body,
})
const discord = (body: string) => ({
  headers: {
    ...json,
    'X-Signature-Ed25519': ed25519(now + body).toString('hex'),
    'X-Signature-Timestamp': String(now),
  },
  body,
})
const meta = (value: object) => {
  const body = JSON.stringify(value)
  return { headers: { ...json, 'X-Hub-Signature-256': `sha256=${hmac(body, 'hex')}` }, body }
}
const stripe = (value: object) => {
  const body = JSON.stringify(value, null, 2)
  return { headers: { ...json, 'Stripe-Signature': `t=${now},v1=${hmac(`${now}.${body}`, 'hex')}` }, body }
}
const gitHub = (body: string, type: object = json) => ({
  headers: {
    ...type,
    'X-GitHub-Delivery': '8a9d1d5e-0000-4000-8000-000000000001',
    'X-GitHub-Event': 'push',
    'X-Hub-Signature-256': `sha256=${hmac(body, 'hex')}`,
  },
  body,
})
const shopify = (prefix: string, topic: string) => {
  const body = '{"id":450789469,"total_price":"598.94"}'
  const headers = {
    ...json,
    [`${prefix}Hmac-Sha256`]: hmac(body, 'base64'),
    [`${prefix}Webhook-Id`]: 'b54557e4-0000-4000-8000-000000000001',
    [`${prefix}Topic`]: topic,
    [`${prefix}API-Version`]: '2026-01',
    [`${prefix}Shop-Domain`]: 'a-shop.myshopify.com',
  }
  return { headers, body }
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

const adyenKey = Buffer.from(createHash('sha256').update(secret).digest())
const adyenItem = (psp: string, event: string) => {
  const item = {
    pspReference: psp,
    originalReference: '',
    merchantAccountCode: 'TestMerchant',
    merchantReference: 'order-1',
    amount: { value: 1130, currency: 'EUR' },
    eventCode: event,
    success: 'true',
    eventDate: '2026-01-01T00:00:00+00:00',
  }
  const signed = [psp, '', 'TestMerchant', 'order-1', '1130', 'EUR', event, 'true'].join(':')
  return {
    NotificationRequestItem: { ...item, additionalData: { hmacSignature: hmac(signed, 'base64', adyenKey) } },
  }
}
const adyenBody = JSON.stringify({
  live: 'false',
  notificationItems: [adyenItem('psp-1', 'AUTHORISATION'), adyenItem('psp-2', 'CAPTURE')],
})
const adyenTransfer = JSON.stringify({
  type: 'balancePlatform.transfer.updated',
  environment: 'test',
  timestamp: '2026-01-01T00:00:00+00:00',
  data: { id: 'transfer-1', balancePlatform: 'Platform', status: 'booked' },
})

const docusignBody = JSON.stringify({
  event: 'envelope-completed',
  apiVersion: 'v2.1',
  retryCount: 0,
  configurationId: 1,
  generatedDateTime: '2026-01-01T00:00:00.0000000Z',
  data: { accountId: 'acc-1', envelopeId: 'env-1' },
})
const postmark = (value: object) => ({
  headers: { ...json, Authorization: `Basic ${Buffer.from(`hook:${secret}`).toString('base64')}` },
  body: JSON.stringify(value),
})
const mailgunToken = createHash('sha256').update('token').digest('hex').slice(0, 50)
const linearBody = JSON.stringify({
  action: 'create',
  type: 'Issue',
  organizationId: 'org-1',
  createdAt: '2026-01-01T00:00:00.000Z',
  data: { id: 'issue-1' },
  webhookTimestamp: now * 1000,
  webhookId: 'hook-1',
})
const intercomBody = JSON.stringify({
  type: 'notification_event',
  app_id: 'app-1',
  id: 'notif_1',
  topic: 'conversation.user.created',
  delivery_attempts: 1,
  created_at: now,
  data: { type: 'notification_event_data', item: { type: 'conversation', id: '1' } },
})
const paddleBody = JSON.stringify({
  event_id: 'evt_1',
  event_type: 'transaction.paid',
  occurred_at: '2026-01-01T00:00:00.000000Z',
  notification_id: 'ntf_1',
  data: { id: 'txn_1' },
})
const squareUrl = 'https://hooks.example/in/square'
const squareBody = JSON.stringify({
  merchant_id: 'merchant-1',
  type: 'payment.updated',
  event_id: 'sq-1',
  created_at: '2026-01-01T00:00:00Z',
  data: { type: 'payment', id: 'pay-1', object: {} },
})
const goCardlessBody = JSON.stringify({
  events: [
    {
      id: 'EV1',
      created_at: '2026-01-01T00:00:00.000Z',
      resource_type: 'payments',
      action: 'confirmed',
      links: { payment: 'PM1', organisation: 'OR1' },
    },
    {
      id: 'EV2',
      created_at: '2026-01-01T00:00:00.000Z',
      resource_type: 'payouts',
      action: 'paid',
      links: { payout: 'PO1' },
    },
  ],
  meta: { webhook_id: 'WB1' },
})

const signedUrl = 'https://hooks.example/in/signed'
const signedBody = '{"id":"evt-1","type":"order.placed"}'
const signedDigest = `sha-256=:${createHash('sha256').update(signedBody).digest('base64')}:`
const signedInput = `("@method" "@authority" "@path" "content-digest");created=${now};keyid="made"`
const signedBase = [
  `"@method": POST`,
  `"@authority": hooks.example`,
  `"@path": /in/signed`,
  `"content-digest": ${signedDigest}`,
  `"@signature-params": ${signedInput}`,
].join('\n')

const customBody = '{"event":{"id":"e-1","created":"2026-01-01T00:00:00Z","data":{"n":1}}}'

const made: Readonly<Record<string, readonly Made[]>> = {
  adyen: [
    {
      why: 'two items in one delivery',
      config: { secrets: [adyenKey.toString('hex')] },
      headers: json,
      body: adyenBody,
      events: [
        { id: 'AUTHORISATION/true/psp-1', source: 'TestMerchant', type: 'AUTHORISATION' },
        { id: 'CAPTURE/true/psp-2', source: 'TestMerchant', type: 'CAPTURE' },
      ],
    },
    {
      why: 'a platform webhook, signed in a header',
      config: { secrets: [adyenKey.toString('hex')] },
      headers: { ...json, HmacSignature: hmac(adyenTransfer, 'base64', adyenKey), Protocol: 'HmacSHA256' },
      body: adyenTransfer,
      events: [
        {
          id: 'balancePlatform.transfer.updated/2026-01-01T00:00:00+00:00/transfer-1',
          source: 'Platform',
          type: 'balancePlatform.transfer.updated',
        },
      ],
    },
  ],
  'azure-service-bus': [
    {
      why: 'a forwarded message',
      config: { tokens: [secret.replaceAll(' ', '-')], entity: 'orders' },
      headers: {
        ...json,
        Authorization: `Bearer ${secret.replaceAll(' ', '-')}`,
        BrokerProperties: '{"MessageId":"m-1","Label":"order.placed","SequenceNumber":7}',
      },
      body: '{"order":1}',
      events: [{ id: 'm-1', source: 'orders', type: 'order.placed' }],
    },
  ],
  custom: [
    {
      why: 'as docs/producers.md describes one',
      config: {
        kind: 'acme',
        authentication: {
          scheme: 'hmac',
          secrets: [secret],
          header: 'X-Acme-Signature',
          mark: 'sha256=',
          encoding: 'hex',
          signs: '{timestamp}.{header:x-acme-event}.{body}',
          timestamp: { header: 'X-Acme-Time', toleranceSeconds: 300 },
        },
        id: '/event/id',
        type: { header: 'X-Acme-Event' },
        at: '/event/created',
        data: '/event/data',
        retryHorizon: '3d',
      },
      headers: {
        ...json,
        'X-Acme-Signature': `sha256=${hmac(`${now}.thing.made.${customBody}`, 'hex')}`,
        'X-Acme-Event': 'thing.made',
        'X-Acme-Time': String(now),
      },
      body: customBody,
      events: [{ id: 'e-1', source: 'acme', type: 'thing.made' }],
    },
  ],
  discord: [
    {
      why: 'a ping of interactions',
      config: { publicKeys: [rawPublicKey.toString('hex')], endpoint: 'interactions' },
      ...discord('{"type":1,"id":"1","application_id":"2"}'),
      answer: { status: 200, headers: json, body: '{"type":1}' },
    },
    {
      why: 'a component that was pressed',
      config: { publicKeys: [rawPublicKey.toString('hex')], endpoint: 'interactions' },
      ...discord('{"type":3,"id":"10","application_id":"2","version":1}'),
      events: [{ id: '10', source: '2', type: 'message_component', version: '1' }],
    },
    {
      why: 'a ping of webhook events',
      config: { publicKeys: [rawPublicKey.toString('hex')], endpoint: 'events' },
      ...discord('{"version":1,"application_id":"2","type":0}'),
      answer: { status: 204 },
    },
    {
      why: 'a webhook event: the same number as a ping of interactions',
      config: { publicKeys: [rawPublicKey.toString('hex')], endpoint: 'events' },
      ...discord(
        '{"version":1,"application_id":"2","type":1,"event":{"type":"APPLICATION_AUTHORIZED","timestamp":"2026-01-01T00:00:00Z","data":{}}}',
      ),
      events: [{ source: '2', type: 'APPLICATION_AUTHORIZED', version: '1' }],
    },
  ],
  docusign: [
    {
      why: 'the second of two signatures is under our key',
      config,
      headers: {
        ...json,
        'X-DocuSign-Signature-1': hmac(docusignBody, 'base64', 'another'),
        'X-DocuSign-Signature-2': hmac(docusignBody, 'base64'),
      },
      body: docusignBody,
      events: [
        {
          id: 'envelope-completed/2026-01-01T00:00:00.0000000Z/env-1',
          source: 'acc-1',
          type: 'envelope-completed',
          version: 'v2.1',
        },
      ],
    },
  ],
  github: [
    {
      why: 'JSON',
      config,
      ...gitHub('{"ref":"refs/heads/main"}'),
      events: [{ id: '8a9d1d5e-0000-4000-8000-000000000001', source: 'github', type: 'push' }],
    },
    {
      why: 'JSON in a form',
      config,
      ...gitHub('payload=%7B%22ref%22%3A%22refs%2Fheads%2Fmain%22%7D', form),
      events: [{ id: '8a9d1d5e-0000-4000-8000-000000000001', source: 'github', type: 'push' }],
    },
  ],
  gitlab: [
    {
      why: 'a signing token',
      config: { signingTokens: standardConfig.secrets },
      headers: standard('hook-1', '{"object_kind":"push"}'),
      body: '{"object_kind":"push"}',
      events: [{ id: 'hook-1', source: 'gitlab', type: 'push' }],
    },
  ],
  gocardless: [
    {
      why: 'two events',
      config,
      headers: { ...json, 'Webhook-Signature': hmac(goCardlessBody, 'hex') },
      body: goCardlessBody,
      events: [
        { id: 'EV1', source: 'OR1', type: 'payments.confirmed' },
        { id: 'EV2', source: 'gocardless', type: 'payouts.paid' },
      ],
    },
  ],
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
  intercom: [
    {
      why: 'a notification',
      config,
      headers: { ...json, 'X-Hub-Signature': `sha1=${hmac(intercomBody, 'hex', secret, 'sha1')}` },
      body: intercomBody,
      events: [{ id: 'notif_1', source: 'app-1', type: 'conversation.user.created' }],
    },
  ],
  linear: [
    {
      why: 'an issue',
      config,
      headers: { ...json, 'Linear-Delivery': 'lin-1', 'Linear-Signature': hmac(linearBody, 'hex') },
      body: linearBody,
      events: [{ id: 'lin-1', source: 'org-1', type: 'Issue.create' }],
    },
  ],
  mailgun: [
    {
      why: 'a delivered message',
      config,
      headers: json,
      body: JSON.stringify({
        signature: {
          timestamp: String(now),
          token: mailgunToken,
          signature: hmac(now + mailgunToken, 'hex'),
        },
        'event-data': { event: 'delivered', id: 'mg-1', timestamp: now, domain: { name: 'mail.example' } },
      }),
      events: [{ id: 'mg-1', source: 'mail.example', type: 'delivered' }],
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
  paddle: [
    {
      why: 'a notification',
      config,
      headers: { ...json, 'Paddle-Signature': `ts=${now};h1=${hmac(`${now}:${paddleBody}`, 'hex')}` },
      body: paddleBody,
      events: [{ id: 'evt_1', source: 'paddle', type: 'transaction.paid' }],
    },
  ],
  postmark: [
    {
      why: 'a bounce',
      config: { credentials: [`hook:${secret}`] },
      ...postmark({ RecordType: 'Bounce', ID: 7, MessageID: 'm-1', BouncedAt: '2026-01-01T00:00:00Z' }),
      events: [{ id: 'Bounce/7', source: 'postmark', type: 'Bounce' }],
    },
    {
      why: 'an inbound message',
      config: { credentials: [`hook:${secret}`] },
      ...postmark({ MessageID: 'm-2', From: 'a@example.com' }),
      events: [{ id: 'Inbound/m-2', source: 'postmark', type: 'Inbound' }],
    },
    {
      why: 'an open: one message may be opened many times',
      config: { credentials: [`hook:${secret}`] },
      ...postmark({ RecordType: 'Open', MessageID: 'm-1', ReceivedAt: '2026-01-01T00:00:00Z' }),
      events: [{ source: 'postmark', type: 'Open' }],
    },
  ],
  rfc9421: [
    {
      why: 'Ed25519 over method, authority, path and the digest of the body',
      config: {
        keys: [
          {
            keyid: 'made',
            algorithm: 'ed25519',
            key: String(publicKey.export({ type: 'spki', format: 'pem' })),
          },
        ],
        publicUrl: signedUrl,
      },
      url: signedUrl,
      headers: {
        ...json,
        'Content-Digest': signedDigest,
        'Signature-Input': `sig1=${signedInput}`,
        Signature: `sig1=:${ed25519(signedBase).toString('base64')}:`,
      },
      body: signedBody,
      events: [{ id: 'evt-1', source: 'http-signatures', type: 'order.placed' }],
    },
  ],
  shopify: [
    {
      why: 'a webhook',
      config,
      ...shopify('X-Shopify-', 'orders/create'),
      events: [
        {
          id: 'b54557e4-0000-4000-8000-000000000001',
          source: 'shopify',
          type: 'orders/create',
          version: '2026-01',
        },
      ],
    },
    {
      why: 'an event: the newer headers',
      config,
      ...shopify('shopify-', 'Product'),
      events: [
        {
          id: 'b54557e4-0000-4000-8000-000000000001',
          source: 'shopify',
          type: 'Product',
          version: '2026-01',
        },
      ],
    },
  ],
  slack: [
    {
      why: 'an event',
      config,
      ...slack(
        JSON.stringify({
          type: 'event_callback',
          team_id: 'T1',
          event_id: 'Ev1',
          event_time: now,
          event: { type: 'message', text: 'hi' },
        }),
      ),
      events: [{ id: 'Ev1', source: 'T1', type: 'message' }],
    },
    {
      why: 'the handshake',
      config,
      ...slack('{"type":"url_verification","challenge":"a challenge"}'),
      answer: { status: 200, headers: { 'content-type': 'text/plain' }, body: 'a challenge' },
    },
    {
      why: 'an interaction: JSON in a form',
      config,
      ...slack(
        `payload=${encodeURIComponent('{"type":"block_actions","trigger_id":"1.2.3","team":{"id":"T1"}}')}`,
        form,
      ),
      events: [{ id: '1.2.3', source: 'T1', type: 'block_actions' }],
    },
    {
      why: 'a slash command: a form',
      config,
      ...slack('team_id=T1&command=%2Fdo&text=it&trigger_id=4.5.6', form),
      events: [{ id: '4.5.6', source: 'T1', type: '/do' }],
    },
  ],
  square: [
    {
      why: 'a payment',
      config: { ...config, publicUrl: squareUrl },
      url: squareUrl,
      headers: { ...json, 'x-square-hmacsha256-signature': hmac(squareUrl + squareBody, 'base64') },
      body: squareBody,
      events: [{ id: 'sq-1', source: 'merchant-1', type: 'payment.updated' }],
    },
  ],
  'standard-webhooks': [
    {
      why: 'v1',
      config: standardConfig,
      headers: standard('msg_1', invoicePaid),
      body: invoicePaid,
      events: [{ id: 'msg_1', source: 'standard-webhooks', type: 'invoice.paid' }],
    },
    {
      why: 'v1a',
      config: { secrets: [`whpk_${rawPublicKey.toString('base64')}`] },
      headers: {
        ...json,
        'webhook-id': 'msg_2',
        'webhook-timestamp': String(now),
        'webhook-signature': `v1a,${ed25519(`msg_2.${now}.${invoicePaid}`).toString('base64')}`,
      },
      body: invoicePaid,
      events: [{ id: 'msg_2', source: 'standard-webhooks', type: 'invoice.paid' }],
    },
  ],
  stripe: [
    {
      why: 'a snapshot of a connected account',
      config,
      ...stripe({
        id: 'evt_1',
        object: 'event',
        account: 'acct_1',
        api_version: '2025-09-30.clover',
        created: now,
        type: 'invoice.paid',
        pending_webhooks: 1,
        data: { object: { id: 'in_1' } },
      }),
      events: [{ id: 'evt_1', source: 'acct_1', type: 'invoice.paid', version: '2025-09-30.clover' }],
    },
    {
      why: 'a thin event',
      config,
      ...stripe({
        id: 'evt_2',
        object: 'v2.core.event',
        context: 'acct_2',
        created: '2026-01-01T00:00:00.000Z',
        type: 'v2.core.account.updated',
        related_object: { id: 'acct_2', type: 'account', url: '/v2/core/accounts/acct_2' },
      }),
      events: [{ id: 'evt_2', source: 'acct_2', type: 'v2.core.account.updated' }],
    },
  ],
  svix: [
    {
      why: 'svix headers',
      config: standardConfig,
      headers: standard('msg_1', invoicePaid, 'svix'),
      body: invoicePaid,
      events: [{ id: 'msg_1', source: 'svix', type: 'invoice.paid' }],
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
  zoom: [
    {
      why: 'a meeting',
      config,
      ...zoom(
        JSON.stringify({
          event: 'meeting.started',
          event_ts: now * 1000,
          payload: { account_id: 'acc-1', object: { id: '1', uuid: 'u-1' } },
        }),
      ),
      events: [{ source: 'acc-1', type: 'meeting.started' }],
    },
    {
      why: 'the handshake: its answer is made with the key of the signature',
      config,
      ...zoom('{"event":"endpoint.url_validation","payload":{"plainToken":"plain"}}'),
      answer: {
        status: 200,
        headers: json,
        body: JSON.stringify({ plainToken: 'plain', encryptedToken: hmac('plain', 'hex') }),
      },
    },
  ],
}

mkdirSync(directory, { recursive: true })
for (const [producer, vectors] of Object.entries(made)) {
  const written = vectors.map(
    ({ why, config, method = 'POST', url, headers = {}, body = '', events, answer }, at) => ({
      id: `${producer}/made-${at + 1}`,
      expect: 'accept',
      why,
      source: 'signed by scripts/make-vectors.ts',
      now,
      config,
      request: {
        method,
        url: url ?? `https://hooks.example/in/${producer}`,
        headers,
        bodyBase64: Buffer.from(body).toString('base64'),
      },
      ...(events === undefined ? {} : { events }),
      ...(answer === undefined ? {} : { answer }),
    }),
  )
  writeFileSync(join(directory, `${producer}.json`), `${JSON.stringify(written, null, 2)}\n`)
}
