import { createHash } from 'node:crypto'
import { ed25519, hmac, json, type Made, now, publicKey, rawPublicKey, secret } from './made.ts'

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

export const standards: Readonly<Record<string, readonly Made[]>> = {
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
  gitlab: [
    {
      why: 'a signing token',
      config: { signingTokens: standardConfig.secrets },
      headers: standard('hook-1', '{"object_kind":"push"}'),
      body: '{"object_kind":"push"}',
      events: [{ id: 'hook-1', source: 'gitlab', type: 'push' }],
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
  svix: [
    {
      why: 'svix headers',
      config: standardConfig,
      headers: standard('msg_1', invoicePaid, 'svix'),
      body: invoicePaid,
      events: [{ id: 'msg_1', source: 'svix', type: 'invoice.paid' }],
    },
  ],
}
