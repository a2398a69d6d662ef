import { createHash, type KeyObject } from 'node:crypto'
import { CounterfoilError, type JsonValue } from '../../domain/index.ts'
import { contentId, elementsOf, instantOf, joined, memberOf, partOf, textOf } from '../members.ts'
import type { Delivery, OfflineKind } from '../producer.ts'
import { checkHeader, hmacKey, hmacText, refused, sameText, secretsOf } from '../signature.ts'
import { noFreshness, unordered } from './words.ts'

export interface TwilioOptions {
  /** Auth tokens of the account; both while the secondary one is promoted. */
  readonly secrets?: string | readonly string[]
  /** Shared keys by their id, for HMAC-SHA256. */
  readonly sharedKeys?: Readonly<Record<string, string>>
}

/**
 * Twilio webhooks and Event Streams. Signed: the URL, and with it the parameters of a form one after the other, or
 * the SHA-256 of any other body, which the URL holds. Nothing separates the parameters' names and values.
 *
 * @throws CounterfoilError `config_invalid` without a key of either kind
 */
export function twilio(options: TwilioOptions): OfflineKind {
  const sharedKeys = sharedKeysOf(options.sharedKeys)
  const tokens = (
    options.secrets === undefined && sharedKeys.size > 0 ? [] : secretsOf('Twilio', options.secrets ?? [])
  ).map(hmacKey)
  return {
    kind: 'twilio',
    contentTypes: ['application/x-www-form-urlencoded', 'application/json'],
    form: 'fields',
    provenance: 'signed',
    signsUrl: true,
    volatile: [],
    // Of Event Streams; others end within a minute.
    retryHorizon: '4h',
    maxBytes: 1_048_576,
    about: {
      signed:
        'URL and sorted parameters; or URL with `bodySHA256` of a body that is no form; HMAC-SHA1 in base64, HMAC-SHA256 with shared keys',
      freshness: noFreshness,
      identity: '`MessageSid` and `MessageStatus`; of Event Streams `id` of each element; else the content',
      identitySigned: true,
      type: '`message.` and `MessageStatus`, `call.` and `CallStatus`; of Event Streams `type`',
      version: 'of Event Streams `dataschema`',
      retries: 'once, when the connection fails, or as the URL’s fragment says; Event Streams for 4 h',
      ordering: unordered,
      handshake: null,
      expects: '2xx within 15 s; Event Streams within 5 s',
      sources: [
        'https://www.twilio.com/docs/usage/webhooks/webhooks-security',
        'https://www.twilio.com/docs/events/webhook-quickstart',
        'twilio 6.3.1',
      ],
    },
    verify(delivery) {
      const settings = settingsOf(delivery)
      const keys = settings === null ? tokens : (sharedKeys.get(settings) ?? [])
      const signed = signedText(delivery)
      if (signed === undefined) {
        return refused('signature_invalid', 'the body is no form, and the URL does not hold its bodySHA256')
      }
      const algorithm = settings === null ? 'sha1' : 'sha256'
      return checkHeader(delivery, 'X-Twilio-Signature', keys, (key) =>
        hmacText(key, '', signed, 'base64', algorithm),
      )
    },
    events: (payload) => (Array.isArray(payload) ? elementsOf(payload) : null),
    facts(payload) {
      const text = (name: string) => textOf(memberOf(payload, name))
      if (text('specversion') !== null) return streamFacts(payload)
      const message = text('MessageStatus') ?? text('SmsStatus')
      const call = text('CallStatus')
      return {
        id: joined(message, text('MessageSid')) ?? contentId(payload),
        source: text('AccountSid') ?? 'twilio',
        type: message !== null ? `message.${message}` : call !== null ? `call.${call}` : null,
        version: text('ApiVersion'),
        at: null,
      }
    },
    data: (payload) => (memberOf(payload, 'specversion') === undefined ? payload : partOf(payload, 'data')),
  }
}

function streamFacts(event: JsonValue | undefined) {
  const text = (name: string) => textOf(memberOf(event, name))
  return {
    id: text('id'),
    source: text('source') ?? 'twilio',
    type: text('type'),
    version: text('dataschema'),
    at: instantOf(memberOf(event, 'time')),
  }
}

/** The id of the shared key that a delivery names; null: it is signed with the auth token. Another algorithm names no key. */
function settingsOf(delivery: Delivery): string | null {
  const header = delivery.header('x-twilio-webhooks-signature-settings')
  if (header === null) return null
  const [, key] = /^key=([^,=\s]+),algorithm=HMAC_SHA256$/.exec(header) ?? []
  return key ?? ''
}

/** Undefined when nothing in it stands for the body. */
function signedText(delivery: Delivery): string | undefined {
  const digest = delivery.query('bodySHA256')
  // Whatever the content type says: it is not signed, and calling an emptied body a form would leave the URL alone to sign.
  if (digest !== null && digest !== undefined)
    return sameText(digest, createHash('sha256').update(delivery.body).digest('hex'))
      ? delivery.url
      : undefined
  const type = delivery.header('content-type') ?? ''
  if (/^application\/x-www-form-urlencoded(?:;|$)/i.test(type))
    return delivery.url + parametersOf(delivery.body)
  return undefined
}

/** Name and value of each, sorted; a value that is repeated under one name counts once. */
function parametersOf(body: Uint8Array): string {
  const parameters = new URLSearchParams(Buffer.from(body).toString('utf8'))
  const names = [...new Set(parameters.keys())].sort()
  return names
    .flatMap((name) => [...new Set(parameters.getAll(name))].sort().map((value) => name + value))
    .join('')
}

function sharedKeysOf(given: TwilioOptions['sharedKeys']): ReadonlyMap<string, readonly KeyObject[]> {
  if (given === undefined) return new Map()
  const keys = typeof given === 'object' && given !== null ? Object.entries(given) : []
  if (keys.length === 0) {
    throw new CounterfoilError('config_invalid', 'A Twilio producer has no shared key, or an empty one.', {
      hint: 'Give them by their ids; or leave sharedKeys out.',
    })
  }
  return new Map(keys.map(([id, secret]) => [id, secretsOf('Twilio', secret).map(hmacKey)]))
}
