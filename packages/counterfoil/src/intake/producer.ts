import type { StandardSchemaV1 } from '@standard-schema/spec'
import {
  CounterfoilError,
  checkIdentityPart,
  type Duration,
  type ErrorCode,
  type Instant,
  type JsonValue,
  milliseconds,
} from '../domain/index.ts'

/** One arrival as it came off the wire: nothing parsed. */
export interface Delivery {
  /** By lower-case name; null when absent. Repeated headers are joined with `, ` (RFC 9110 section 5.3). */
  header(name: string): string | null
  readonly body: Uint8Array
}

export type Verification =
  | { readonly kind: 'verified' }
  /** Nothing is stored. `why` names no secret and quotes no header value. */
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly why: string }

/** What a producer's bytes say of the event they carry. */
export interface EventFacts {
  /** Null: none is there; the delivery is refused as `identity_invalid`. */
  readonly id: string | null
  readonly source: string
  /** Null: the payload names none; it is quarantined as an unsupported type. */
  readonly type: string | null
  readonly version: string | null
  readonly at: Instant | null
}

/** A kind of producer: one declarative file each in `producers/`. */
export interface ProducerKind {
  readonly kind: string
  /** Media types without parameters; the empty text where a delivery may come without one. */
  readonly contentTypes: readonly string[]
  /** `unsigned`: id or type come from headers that the signature does not cover (design.md section 3). */
  readonly provenance: 'signed' | 'unsigned'
  /** JSON Pointers of members that change between deliveries of one event; they stay out of the fingerprint. */
  readonly volatile: readonly string[]
  /** How long the producer may send one event again. */
  readonly retryHorizon: Duration
  /** The producer's own largest body, in bytes. */
  readonly maxBytes: number
  /** Over the raw bytes, before anything is parsed. Compares in constant time. */
  verify(delivery: Delivery, now: Instant): Verification
  /** Only after `verify`. `payload` is undefined when the body cannot be represented: headers may still tell. */
  facts(payload: JsonValue | undefined, delivery: Delivery): EventFacts
  /** What the trigger gets as `event.data`, before its schema. */
  data(payload: JsonValue): JsonValue
}

export interface ProducerOptions {
  /** Who looks after this producer's quarantine. Default: the configuration's owner. */
  readonly owner?: string
  /** Largest body in bytes. Default: what the producer documents, else 1 MiB. */
  readonly maxBytes?: number
  /** From the first byte read to the last. Default `10s`. */
  readonly maxReadTime?: Duration
  /** `lossless`: whole numbers beyond 2^53 become bigint instead of quarantine. Default `double`. */
  readonly numbers?: 'double' | 'lossless'
}

export interface Producer {
  /** Route and namespace: `stripe/acct_1` receives at `POST /in/stripe/acct_1`. */
  readonly name: string
  readonly kind: ProducerKind
  readonly owner: string | undefined
  readonly maxBytes: number
  readonly maxReadMs: number
  readonly numbers: 'double' | 'lossless'
  /** Names a type of event, so that triggers can subscribe to it. */
  event<Schema extends StandardSchemaV1 = StandardSchemaV1<unknown, any>>(
    type: string,
    about?: { readonly version?: string; readonly schema?: Schema },
  ): EventType<StandardSchemaV1.InferOutput<Schema>>
}

/** A type of event at a producer: what a trigger's `on` takes. */
export interface EventType<Data = unknown> {
  readonly producer: Producer
  readonly type: string
  /** Absent: events of every schema version. */
  readonly version: string | undefined
  readonly schema: StandardSchemaV1<unknown, Data> | undefined
}

/**
 * An authenticated source of events.
 *
 * @param name route and namespace, for ever: receipts are identified inside it
 * @throws CounterfoilError `config_invalid`
 */
export function producer(name: string, kind: ProducerKind, options: ProducerOptions = {}): Producer {
  const maxBytes = options.maxBytes ?? kind.maxBytes
  const maxReadMs = milliseconds(options.maxReadTime ?? '10s')
  if (!isRoute(name)) {
    throw invalid(
      `'${name}' is no producer name.`,
      'It becomes the route POST /in/NAME: words of letters, digits and . _ ~ - with / between them.',
    )
  }
  if (!Number.isSafeInteger(maxBytes) || maxBytes < 1) {
    throw invalid(`Producer '${name}': maxBytes is ${maxBytes}.`, 'Give a positive whole number of bytes.')
  }
  if (maxReadMs === 0) {
    throw invalid(`Producer '${name}': maxReadTime is 0.`, "Give a time such as '10s'.")
  }
  const self: Producer = {
    name,
    kind,
    owner: options.owner,
    maxBytes,
    maxReadMs,
    numbers: options.numbers ?? 'double',
    event: (type, about = {}) => ({
      producer: self,
      type,
      version: about.version,
      schema: about.schema as never,
    }),
  }
  return self
}

/** What a URL's path holds unescaped and unchanged: no empty segment, and none of the two that move upwards. */
function isRoute(name: string): boolean {
  if (checkIdentityPart(name) !== undefined) return false
  return name.split('/').every((segment) => /^[A-Za-z0-9._~-]+$/.test(segment) && !/^\.{1,2}$/.test(segment))
}

/** Subscribed types, by producer and type. */
export type EventTypes = ReadonlyMap<string, ReadonlyMap<string, readonly EventType[]>>

/**
 * An event is fitted once, and all its triggers get the same data; so one type, in one version, has one schema.
 *
 * @throws CounterfoilError `config_invalid` when two that can meet the same event differ
 */
export function eventTypes(subscribed: readonly EventType[]): EventTypes {
  const types = new Map<string, Map<string, EventType[]>>()
  for (const type of subscribed) {
    const ofProducer = types.get(type.producer.name) ?? new Map<string, EventType[]>()
    types.set(type.producer.name, ofProducer)
    const known = ofProducer.get(type.type) ?? []
    ofProducer.set(type.type, known)
    if (known.some((other) => mayMeet(type, other) && other.schema !== type.schema)) {
      throw invalid(
        `Two triggers read '${type.type}' of producer '${type.producer.name}' through different schemas.`,
        'Call event() once and give its value to both: they get the same data.',
      )
    }
    if (!known.some((other) => other.version === type.version)) known.push(type)
  }
  return types
}

function mayMeet(one: EventType, other: EventType): boolean {
  return one.version === other.version || one.version === undefined || other.version === undefined
}

function invalid(message: string, hint: string): CounterfoilError {
  return new CounterfoilError('config_invalid', message, { hint })
}
