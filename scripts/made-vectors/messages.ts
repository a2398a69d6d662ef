import { createHash } from 'node:crypto'
import { config, ed25519, form, hmac, json, type Made, now, rawPublicKey, secret } from './made.ts'

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

const mailgunToken = createHash('sha256').update('token').digest('hex').slice(0, 50)

const intercomBody = JSON.stringify({
  type: 'notification_event',
  app_id: 'app-1',
  id: 'notif_1',
  topic: 'conversation.user.created',
  delivery_attempts: 1,
  created_at: now,
  data: { type: 'notification_event_data', item: { type: 'conversation', id: '1' } },
})

const postmark = (value: object) => ({
  headers: { ...json, Authorization: `Basic ${Buffer.from(`hook:${secret}`).toString('base64')}` },
  body: JSON.stringify(value),
})

export const messages: Readonly<Record<string, readonly Made[]>> = {
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
  intercom: [
    {
      why: 'a notification',
      config,
      headers: { ...json, 'X-Hub-Signature': `sha1=${hmac(intercomBody, 'hex', secret, 'sha1')}` },
      body: intercomBody,
      events: [{ id: 'notif_1', source: 'app-1', type: 'conversation.user.created' }],
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
