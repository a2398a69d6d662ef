import type { JsonValue } from '../../domain/index.ts'
import { checkCredential } from '../credential.ts'
import {
  contentId,
  elementsOf,
  instantOf,
  instantOfMilliseconds,
  joined,
  memberOf,
  nameOf,
  textOf,
} from '../members.ts'
import type { OfflineKind } from '../producer.ts'
import { checkHeader, hmacKey, hmacText, refused, secretsOf } from '../signature.ts'
import { noFreshness, unordered } from './words.ts'

export interface MetaOptions {
  /** The app secret. */
  readonly secrets: string | readonly string[]
  /** What was entered as verify token; another than the app secret. */
  readonly verifyTokens: string | readonly string[]
}

/**
 * Meta webhooks: WhatsApp, Messenger, Instagram, Graph. Signed: the raw body. One delivery carries many messages,
 * statuses and changes; each is put together with the envelope that names its account.
 *
 * @throws CounterfoilError `config_invalid` without a secret or a verify token
 */
export function meta(options: MetaOptions): OfflineKind {
  const keys = secretsOf('Meta', options.secrets).map(hmacKey)
  const tokens = secretsOf('Meta', options.verifyTokens, 'verify token')
  return {
    kind: 'meta',
    contentTypes: ['application/json'],
    methods: ['GET'],
    provenance: 'signed',
    volatile: [],
    retryHorizon: '7d',
    maxBytes: 3 * 1_048_576,
    answer: { accepted: { status: 200 } },
    about: {
      signed: 'the raw body, HMAC-SHA256 in hex',
      freshness: noFreshness,
      identity:
        'of each message its `id` (`wamid…`) or `mid`; of a status `id`, `status` and `timestamp`; else the content',
      identitySigned: true,
      type: '`object` and `field`, as `whatsapp_business_account.messages`; `….statuses` of a status',
      version: null,
      retries: 'at once, then further and further apart: 36 h, WhatsApp 7 d',
      ordering: unordered,
      handshake: 'GET with `hub.challenge`, after the verify token was compared',
      expects: '200 for the whole batch',
      sources: [
        'https://developers.facebook.com/docs/graph-api/webhooks/getting-started',
        'https://developers.facebook.com/docs/whatsapp/cloud-api/guides/set-up-webhooks',
      ],
    },
    verify(delivery) {
      if (delivery.method === 'GET') {
        if (delivery.query('hub.mode') !== 'subscribe')
          return refused('signature_missing', 'no hub.mode=subscribe')
        return checkCredential(delivery.query('hub.verify_token'), 'hub.verify_token', tokens)
      }
      return checkHeader(
        delivery,
        'X-Hub-Signature-256',
        keys,
        (key) => `sha256=${hmacText(key, '', delivery.body, 'hex')}`,
      )
    },
    handshake(delivery) {
      const challenge = delivery.query('hub.challenge') ?? ''
      // A number, always: other text would be shown under our name.
      if (delivery.method !== 'GET' || !/^\d{1,20}$/.test(challenge)) return null
      return { status: 200, headers: { 'content-type': 'text/plain' }, body: challenge }
    },
    events: (payload) => elementsOf(memberOf(payload, 'entry')).flatMap((entry) => partsOf(payload, entry)),
    facts(event) {
      const member = (name: string) => memberOf(event, name)
      const [item, field] = [member('item'), textOf(member('field'))]
      const object = textOf(member('object'))
      return {
        id: idOf(field, item) ?? contentId(event),
        source: nameOf(member('account')) ?? 'meta',
        type: object === null || field === null ? null : `${object}.${field}`,
        version: null,
        at: timeOf(event),
      }
    },
    data: (event) => event,
  }
}

/** One change or message of an entry, with what the entry says of all of them. */
function partsOf(payload: JsonValue, entry: JsonValue): JsonValue[] {
  const about = { object: memberOf(payload, 'object') ?? null, account: memberOf(entry, 'id') ?? null }
  const time = memberOf(entry, 'time') ?? null
  const changes = elementsOf(memberOf(entry, 'changes')).flatMap((change): JsonValue[] => {
    const field = memberOf(change, 'field') ?? null
    const value = memberOf(change, 'value') ?? null
    const lists = ['messages', 'statuses'].filter((name) => elementsOf(memberOf(value, name)).length > 0)
    // What an id belongs to is an event of its own; a change without any is one as a whole.
    if (lists.length === 0) return [{ ...about, time, field, item: value }]
    return lists.flatMap((name) =>
      elementsOf(memberOf(value, name)).map((item) => ({
        ...about,
        time,
        field: name,
        metadata: memberOf(value, 'metadata') ?? null,
        contacts: memberOf(value, 'contacts') ?? null,
        item,
      })),
    )
  })
  const messaging = elementsOf(memberOf(entry, 'messaging')).map((item) => ({
    ...about,
    time,
    field: 'messaging',
    item,
  }))
  return [...changes, ...messaging]
}

/** A message has a name of its own, and a status of it that of the message. Other changes have none that is theirs alone. */
function idOf(field: string | null, item: JsonValue | undefined): string | null {
  const id = textOf(memberOf(item, 'id'))
  if (field === 'messages') return id
  if (field === 'messaging') return textOf(memberOf(memberOf(item, 'message'), 'mid'))
  return field === 'statuses'
    ? joined(textOf(memberOf(item, 'status')), nameOf(memberOf(item, 'timestamp')), id)
    : null
}

/** WhatsApp writes seconds as text, Graph a number of seconds, Messenger one of milliseconds. */
function timeOf(event: JsonValue | undefined) {
  const item = memberOf(event, 'item')
  const written = memberOf(item, 'timestamp')
  if (typeof written === 'string') return instantOf(Number(written))
  return instantOfMilliseconds(written) ?? instantOf(memberOf(event, 'time'))
}
