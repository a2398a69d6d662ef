import { type JsonValue, readJson } from '../../domain/index.ts'
import { certificateKey } from '../certificate.ts'
import { instantOf, memberOf, signedMembers, textOf } from '../members.ts'
import type { KeySource, ProducerKind, Verification } from '../producer.ts'
import { isSignedBy } from '../public-key.ts'
import {
  checkFreshness,
  noMatch,
  noTimestamp,
  refused,
  secretsOf,
  strictBase64,
  toleranceOf,
  verified,
} from '../signature.ts'
import { unordered } from './words.ts'

export interface AwsSnsOptions {
  /** ARNs of our topics. AWS signs every customer's messages with the same keys: without them anybody could send. */
  readonly topics: string | readonly string[]
  /** `json`: the message's text is JSON, and that is the event's data. Default `message`: the envelope is. */
  readonly content?: 'json' | 'message'
  /** How far the time of publishing may be from now, in both directions. Default 3900: retries last an hour. */
  readonly toleranceSeconds?: number
}

/**
 * Amazon SNS over HTTPS. Signed: some members of the body, line by line, under a certificate that lies at AWS. A
 * confirmation of a subscription waits for an operator, and is an effect then (docs/producers.md). Raw delivery is
 * not signed, and refused.
 *
 * @throws CounterfoilError `config_invalid` without a topic
 */
export function awsSns(options: AwsSnsOptions): ProducerKind {
  const topics = secretsOf('SNS', options.topics, 'topic')
  const tolerance = toleranceOf('SNS', options.toleranceSeconds ?? 3_900)
  return {
    kind: 'aws-sns',
    contentTypes: ['text/plain', 'application/json'],
    provenance: 'signed',
    // How it was signed, and addresses that may be spelled anew.
    volatile: ['/Signature', '/SignatureVersion', '/SigningCertURL', '/UnsubscribeURL'],
    retryHorizon: '1h',
    maxBytes: 1_048_576,
    keyHosts: ['sns.*.amazonaws.com', 'sns.*.amazonaws.com.cn'],
    approved: ['SubscriptionConfirmation', 'UnsubscribeConfirmation'],
    answer: { accepted: { status: 200 } },
    about: {
      signed:
        '`Message`, `MessageId`, `Subject`, `Timestamp`, `TopicArn`, `Type`, name and value a line; RSA with SHA-1 or SHA-256, certificate at AWS; topics are pinned',
      freshness: '`Timestamp`, the time of publishing, 65 min',
      identity: '`MessageId`',
      identitySigned: true,
      type: '`Type`: `Notification`, or a confirmation',
      version: null,
      retries: '3 times, 20 s apart; a policy may stretch them to 1 h',
      ordering: unordered,
      handshake:
        'none by itself: a verified `SubscriptionConfirmation` waits in quarantine until an operator approves it',
      expects: '2xx',
      sources: [
        'https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html',
        'https://docs.aws.amazon.com/sns/latest/dg/sns-message-delivery-retries.html',
        'sns-validator 0.3.5',
      ],
    },
    async verify(delivery, now, keys) {
      const message = signedMembers(delivery.body)
      const signed = await checkMessage(message, keys)
      if (signed.kind === 'refused') return signed
      const topic = textOf(memberOf(message, 'TopicArn'))
      if (topic === null || !topics.includes(topic)) {
        return refused('signature_invalid', 'AWS signed it for a topic that is not ours')
      }
      // A confirmation ends with its token.
      if (!isNotification(message)) return verified
      const at = instantOf(memberOf(message, 'Timestamp'))
      return at === null ? noTimestamp : checkFreshness(Math.floor(at / 1000), now, tolerance)
    },
    facts: (payload) => ({
      id: textOf(memberOf(payload, 'MessageId')),
      source: textOf(memberOf(payload, 'TopicArn')) ?? 'aws-sns',
      type: textOf(memberOf(payload, 'Type')),
      version: null,
      at: instantOf(memberOf(payload, 'Timestamp')),
    }),
    data: (payload) => (options.content === 'json' && isNotification(payload) ? jsonIn(payload) : payload),
  }
}

const digests = { '1': 'sha1', '2': 'sha256' } as const

async function checkMessage(message: JsonValue | undefined, keys: KeySource): Promise<Verification> {
  const text = (name: string) => textOf(memberOf(message, name))
  const [signature, url, type] = [text('Signature'), text('SigningCertURL'), text('Type')]
  if (signature === null || url === null || type === null) {
    return refused('signature_missing', 'the body is no signed SNS message')
  }
  const digest = digests[text('SignatureVersion') as '1' | '2']
  if (digest === undefined || !url.endsWith('.pem')) {
    return refused('signature_invalid', 'an unknown SignatureVersion, or no certificate at SigningCertURL')
  }
  const key = await certificateKey(keys, url)
  const signed = Buffer.from(signedText(message, type))
  return key !== null && isSignedBy([key], digest, [signed], strictBase64(signature)) ? verified : noMatch
}

/** Both confirmations are signed with their token and address. */
function signedText(message: JsonValue | undefined, type: string): string {
  const names =
    type === 'Notification'
      ? ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
      : ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']
  return names
    .map((name) => [name, memberOf(message, name)] as const)
    .filter(([, value]) => typeof value === 'string')
    .map(([name, value]) => `${name}\n${value}\n`)
    .join('')
}

function isNotification(message: JsonValue | undefined): boolean {
  return memberOf(message, 'Type') === 'Notification'
}

/** What is not JSON stays the envelope, and so fails the schema. */
function jsonIn(payload: JsonValue): JsonValue {
  const reading = readJson(Buffer.from(textOf(memberOf(payload, 'Message')) ?? ''), { numbers: 'double' })
  return reading.kind === 'read' ? reading.value : payload
}
