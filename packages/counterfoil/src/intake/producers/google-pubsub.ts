import { type JsonValue, readJson } from '../../domain/index.ts'
import { authorization } from '../credential.ts'
import { jwksKey, verifyJwt } from '../jwt.ts'
import { instantOf, memberOf, partOf, textOf } from '../members.ts'
import type { ProducerKind } from '../producer.ts'
import { refused, secretsOf, verified } from '../signature.ts'

export interface GooglePubSubOptions {
  /** The audience of the push subscription. */
  readonly audience: string
  /** E-mail addresses of our push service accounts: any Google project can get a token for our audience. */
  readonly serviceAccounts: string | readonly string[]
  /** The attribute that names the type of an event. Without it every event is a `message`. */
  readonly typeAttribute?: string
  /** `json`: the message's data is JSON, and that is the event's data. Default `message`: the message is. */
  readonly content?: 'json' | 'message'
}

const jwks = 'https://www.googleapis.com/oauth2/v3/certs'
const issuers = ['https://accounts.google.com', 'accounts.google.com']

/**
 * Google Cloud Pub/Sub push with authentication. The token vouches for the sender, and for no byte of the message.
 *
 * @throws CounterfoilError `config_invalid` without an audience and a service account
 */
export function googlePubSub(options: GooglePubSubOptions): ProducerKind {
  const [audience = ''] = secretsOf('Pub/Sub', options.audience, 'audience')
  const accounts = secretsOf('Pub/Sub', options.serviceAccounts, 'service account')
  const { typeAttribute, content = 'message' } = options
  return {
    kind: 'google-pubsub',
    contentTypes: ['application/json'],
    provenance: 'unsigned',
    volatile: ['/deliveryAttempt'],
    // As long as a subscription may retain messages, and replay them.
    retryHorizon: '31d',
    maxBytes: 16 * 1_048_576,
    keyHosts: ['www.googleapis.com'],
    about: {
      signed: 'nothing of the message: a JWT of Google (RS256), pinned to audience and service account',
      freshness: '`exp` of the token, an hour',
      identity: '`message.messageId`',
      identitySigned: false,
      type: 'an attribute of the message, by configuration; else `message`',
      version: null,
      retries: 'until it is acknowledged, or its retention ends',
      ordering: 'only with ordering keys',
      handshake: null,
      expects: '102, 200, 201, 202 or 204 within the acknowledgement deadline of 10 to 600 s',
      sources: [
        'https://cloud.google.com/pubsub/docs/push',
        'https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions',
      ],
    },
    async verify(delivery, now, keys) {
      const token = authorization(delivery, 'Bearer')
      const rules = { algorithms: ['RS256'], issuers, audience }
      const verdict = await verifyJwt(token, (kid) => jwksKey(keys, jwks, kid), now, rules)
      if (verdict.kind === 'refused') return verdict
      const { email, email_verified } = verdict.claims
      if (email_verified === true && accounts.includes(email as string)) return verified
      return refused('signature_invalid', 'Google signed it for a service account that is not ours')
    },
    facts(payload) {
      const message = memberOf(payload, 'message')
      const attribute =
        typeAttribute === undefined ? undefined : memberOf(memberOf(message, 'attributes'), typeAttribute)
      return {
        id: textOf(memberOf(message, 'messageId')),
        source: textOf(memberOf(payload, 'subscription')) ?? 'google-pubsub',
        type: typeAttribute === undefined ? 'message' : textOf(attribute),
        version: null,
        at: instantOf(memberOf(message, 'publishTime')),
      }
    },
    data: (payload) => (content === 'json' ? jsonIn(payload) : partOf(payload, 'message')),
  }
}

/** What is not JSON stays the message, and so fails the schema. */
function jsonIn(payload: JsonValue): JsonValue {
  const data = textOf(memberOf(memberOf(payload, 'message'), 'data')) ?? ''
  const reading = readJson(Buffer.from(data, 'base64'), { numbers: 'double' })
  return reading.kind === 'read' ? reading.value : partOf(payload, 'message')
}
