import { type JsonValue, readJson } from '../../domain/index.ts'
import { instantOf } from '../members.ts'
import type { EventFacts, OfflineKind } from '../producer-kind.ts'
import { refused, verified } from '../signature.ts'
import { authenticationOf, type CloudEventsAuthentication } from './authentication.ts'
import { readCloudEvent } from './cloud-event.ts'
import { batchType, readBinary, structuredType } from './modes.ts'
import { type AllowedSenders, consent, mayOriginSend, requestOrigin } from './validation.ts'

export interface CloudEventsOptions extends CloudEventsAuthentication, AllowedSenders {
  /**
   * What triggers get as `event.data`: the data alone, or the whole event with its attributes, for those that
   * order by `sequence` and `partitionkey`. Default `data`.
   */
  readonly gives?: 'data' | 'event'
}

/**
 * CloudEvents 1.0.2 over HTTP, in binary, structured and batched mode (github.com/cloudevents/spec). The identity
 * is `source` and `id`; it is the same event, with the same fingerprint, whichever mode it comes in. Data that
 * is neither JSON nor text is given to triggers as `{ data_base64 }`.
 *
 * @throws CounterfoilError `config_invalid` unless exactly one way to authenticate is given
 */
export function cloudEvents(options: CloudEventsOptions): OfflineKind {
  const authentication = authenticationOf(options)
  const allowed: AllowedSenders = {
    ...options,
    ...(options.allowedOrigins === undefined
      ? {}
      : { allowedOrigins: options.allowedOrigins.map((origin) => origin.toLowerCase()) }),
  }
  const gives = options.gives ?? 'data'
  return {
    kind: 'cloudevents',
    // Binary mode carries data of any type, and data without one.
    contentTypes: [structuredType, batchType, '*/*', ''],
    ...(options.allowedOrigins === undefined ? {} : { methods: ['OPTIONS' as const] }),
    provenance: authentication.signed ? 'signed' : 'unsigned',
    volatile: [],
    // The specification names none.
    retryHorizon: '7d',
    maxBytes: 1_048_576,
    keptAs: structuredType,
    about: {
      signed: authentication.signed
        ? 'time, content type, `ce-` headers, body; HMAC-SHA256 in hex'
        : 'nothing: a token or password vouches for the sender',
      identity: '`source` and `id`',
      identitySigned: authentication.signed,
      type: '`type`',
      version: '`dataschema`',
      freshness: authentication.signed ? 'the signed time, 300 s' : 'none',
      retries: 'not in the specification',
      ordering: 'none promised; `sequence` orders the events of one source',
      handshake: 'OPTIONS with `WebHook-Request-Origin`, where `allowedOrigins` is set',
      expects: '202, or another 2xx; 410 retires the endpoint; `Retry-After` is observed',
      sources: ['CloudEvents 1.0.2: core, JSON format, HTTP binding, webhooks', 'cloudevents 10.0.0'],
    },
    verify(delivery, now) {
      if (!mayOriginSend(delivery, allowed)) {
        return refused('signature_missing', `${requestOrigin} is missing or not allowed`)
      }
      if (delivery.method === 'OPTIONS') return verified
      const verification = authentication.verify(delivery, now)
      return verification.kind === 'verified' && isOtherFormat.test(delivery.header('content-type') ?? '')
        ? refused('content_type_unsupported', 'of the event formats only JSON is understood')
        : verification
    },
    handshake: (delivery) => (delivery.method === 'OPTIONS' ? consent(delivery, allowed) : null),
    read(delivery, mediaType, numbers) {
      if (mediaType === batchType) return undefined
      const isStructured = mediaType === structuredType
      const reading = isStructured ? readJson(delivery.body, { numbers }) : readBinary(delivery, numbers)
      return reading.kind === 'read' ? { kind: 'read', value: spelled(reading.value) } : reading
    },
    events: (payload) => (Array.isArray(payload) ? payload.map(spelled) : null),
    facts,
    data(payload) {
      const reading = readCloudEvent(payload)
      if (reading.kind === 'wrong') return payload
      const { event } = reading
      if (gives === 'event') return event
      if (event.data !== undefined) return event.data
      return event.data_base64 === undefined ? null : { data_base64: event.data_base64 }
    },
  }
}

/** Avro, protobuf and others are events too, so they are no data of unknown type. */
const isOtherFormat = /^\s*application\/cloudevents(?!(?:-batch)?\+json\s*(?:;|$))/i

/** In its one spelling; what is no event stays as it is, for people to look at. */
function spelled(value: JsonValue): JsonValue {
  const reading = readCloudEvent(value)
  return reading.kind === 'event' ? reading.event : value
}

function facts(payload: JsonValue | undefined): EventFacts {
  const none = { id: null, source: 'cloudevents', type: null, version: null, at: null }
  if (payload === undefined) return none
  const reading = readCloudEvent(payload)
  if (reading.kind === 'wrong') return { ...none, wrong: reading.why }
  const { id, source, type, dataschema = null, time } = reading.event
  return { id, source, type, version: dataschema, at: instantOf(time) }
}
