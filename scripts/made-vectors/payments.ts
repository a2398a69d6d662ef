import { createHash } from 'node:crypto'
import { config, hmac, json, type Made, now, secret } from './made.ts'

const stripe = (value: object) => {
  const body = JSON.stringify(value, null, 2)
  return { headers: { ...json, 'Stripe-Signature': `t=${now},v1=${hmac(`${now}.${body}`, 'hex')}` }, body }
}

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

export const payments: Readonly<Record<string, readonly Made[]>> = {
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
  paddle: [
    {
      why: 'a notification',
      config,
      headers: { ...json, 'Paddle-Signature': `ts=${now};h1=${hmac(`${now}:${paddleBody}`, 'hex')}` },
      body: paddleBody,
      events: [{ id: 'evt_1', source: 'paddle', type: 'transaction.paid' }],
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
}
