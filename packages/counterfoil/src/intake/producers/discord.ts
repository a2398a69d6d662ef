import type { JsonValue } from '../../domain/index.ts'
import { contentId, instantOf, memberOf, partOf, textOf } from '../members.ts'
import type { OfflineKind, OwnAnswer } from '../producer.ts'
import { ed25519Key, isSignedBy, publicKeysOf } from '../public-key.ts'
import { checkFreshness, noMatch, noTimestamp, refused, strictSeconds, toleranceOf } from '../signature.ts'
import { unordered } from './words.ts'

export interface DiscordOptions {
  /** The application's public key in hexadecimal. It is no secret. */
  readonly publicKeys: string | readonly string[]
  /** Which of Discord's two endpoints this is: the same number means a ping in one and an event in the other. */
  readonly endpoint: 'interactions' | 'events'
  /** How far the timestamp may be from now, in both directions. Default 300; Discord names none. */
  readonly toleranceSeconds?: number
}

/** Interaction types, docs.discord.com. */
const interactions: ReadonlyMap<JsonValue | undefined, string> = new Map([
  [1, 'ping'],
  [2, 'application_command'],
  [3, 'message_component'],
  [4, 'application_command_autocomplete'],
  [5, 'modal_submit'],
])
const noContent: OwnAnswer = { status: 204, body: '' }

/**
 * Discord interactions, or its webhook events. An interaction is answered as deferred, which autocompletion cannot be. Signed with Ed25519: timestamp and body. Discord sends bad
 * signatures on purpose, and takes the endpoint away from who accepts one.
 *
 * @throws CounterfoilError `config_invalid` without a key, or with one that is none
 */
export function discord(options: DiscordOptions): OfflineKind {
  const keys = publicKeysOf('Discord', options.publicKeys, '32 bytes in hexadecimal', hexKey)
  const tolerance = toleranceOf('Discord', options.toleranceSeconds)
  const isInteractions = options.endpoint === 'interactions'
  return {
    kind: `discord-${options.endpoint}`,
    contentTypes: ['application/json'],
    provenance: 'signed',
    volatile: [],
    retryHorizon: '10m',
    maxBytes: 1_048_576,
    answer: { accepted: isInteractions ? json({ type: 5 }) : noContent },
    about: {
      signed: 'timestamp, body; Ed25519 in hex',
      freshness: 'header `X-Signature-Timestamp`, 300 s',
      identity: isInteractions ? '`id`' : 'the content: there is no id',
      identitySigned: true,
      type: isInteractions ? 'the name of `type`, as `application_command`' : '`event.type`',
      version: '`version`',
      retries: isInteractions ? 'none' : 'several times within 10 min',
      ordering: unordered,
      handshake: `a ping, after the signature was verified: ${isInteractions ? '`{"type":1}`' : '204'}`,
      expects: `${isInteractions ? 'a deferred message, `{"type":5}`' : '204 within 3 s'}; 401 for a bad signature, and it probes`,
      sources: [
        'https://docs.discord.com/developers/interactions/overview',
        'https://docs.discord.com/developers/events/webhook-events',
        'discord-interactions 4.4.0',
      ],
    },
    verify(delivery, now) {
      const signature = delivery.header('x-signature-ed25519')
      const timestamp = delivery.header('x-signature-timestamp')
      if (signature === null) return refused('signature_missing', 'X-Signature-Ed25519 is missing')
      const seconds = strictSeconds(timestamp)
      // Nothing separates it from the body: with fewer digits it could borrow from it.
      if (timestamp?.length !== 10 || seconds === undefined) return noTimestamp
      const bytes = /^[0-9a-fA-F]{128}$/.test(signature) ? Buffer.from(signature, 'hex') : undefined
      if (!isSignedBy(keys, null, [timestamp, delivery.body], bytes)) return noMatch
      return checkFreshness(seconds, now, tolerance)
    },
    handshake(_, payload) {
      const type = memberOf(payload, 'type')
      if (isInteractions) return type === 1 ? json({ type: 1 }) : null
      return type === 0 ? noContent : null
    },
    facts: (payload) => (isInteractions ? interaction(payload) : webhookEvent(payload)),
    data: (payload) => (isInteractions ? payload : partOf(payload, 'event', 'data')),
  }
}

function interaction(payload: JsonValue | undefined) {
  return {
    id: textOf(memberOf(payload, 'id')),
    source: textOf(memberOf(payload, 'application_id')) ?? 'discord',
    type: interactions.get(memberOf(payload, 'type')) ?? null,
    version: versionOf(payload),
    at: null,
  }
}

function webhookEvent(payload: JsonValue | undefined) {
  const event = memberOf(payload, 'event')
  return {
    id: contentId(payload),
    source: textOf(memberOf(payload, 'application_id')) ?? 'discord',
    type: textOf(memberOf(event, 'type')),
    version: versionOf(payload),
    at: instantOf(memberOf(event, 'timestamp')),
  }
}

function versionOf(payload: JsonValue | undefined): string | null {
  const version = memberOf(payload, 'version')
  return typeof version === 'number' ? String(version) : null
}

function json(value: JsonValue): OwnAnswer {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) }
}

function hexKey(text: string) {
  return ed25519Key(/^[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text, 'hex') : undefined)
}
