import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Duration } from '../domain/duration.ts'
import type { ErrorCode } from '../domain/errors.ts'
import type { Instant } from '../domain/ids.ts'
import type { JsonValue } from '../domain/json.ts'

/** One arrival as it came off the wire: nothing parsed, header names in lower case. */
export interface Delivery {
  readonly method: string
  readonly url: string
  /** Repeated headers are joined with `, ` as RFC 9110 section 5.3 says. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export type Verification =
  | { readonly kind: 'verified' }
  /** Nothing is stored. `why` names no secret and quotes no header value. */
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly why: string }

/** What a producer's bytes say of the event they carry. */
export interface EventFacts {
  readonly id: string
  readonly source: string
  /** Null: the payload names none; it is quarantined as an unsupported type. */
  readonly type: string | null
  readonly version: string | null
  readonly at: Instant | null
  /** What the trigger gets as `event.data`, before its schema. */
  readonly data: JsonValue
}

/** A kind of producer: one declarative file each in `producers/`. */
export interface ProducerKind {
  readonly kind: string
  /** Media types without parameters. The first is what the documentation says. */
  readonly contentTypes: readonly string[]
  /** `unsigned`: id or type come from headers that the signature does not cover (design.md section 3). */
  readonly provenance: 'signed' | 'unsigned'
  /** JSON Pointers of members that change between deliveries of one event; they stay out of the fingerprint. */
  readonly volatile: readonly string[]
  /** How long the producer may send one event again. */
  readonly retryHorizon: Duration
  /** Over the raw bytes, before anything is parsed. Compares in constant time. */
  verify(delivery: Delivery, now: Instant): Verification
  /** Only after `verify`. */
  facts(payload: JsonValue, delivery: Pick<Delivery, 'headers'>): EventFacts
}

export interface ProducerOptions {
  /** Who looks after this producer's quarantine. Default `operators`. */
  readonly owner?: string
  /** Largest body in bytes. Default 1 MiB, or what the producer documents. */
  readonly maxBytes?: number
  /** From the first byte read to the last. Default `10s`. */
  readonly maxReadTime?: Duration
  /** `lossless`: whole numbers beyond 2^53 become bigint instead of quarantine. Default `double`. */
  readonly numbers?: 'double' | 'lossless'
}

export interface Producer extends Required<Omit<ProducerOptions, 'maxReadTime'>> {
  /** Route and namespace: `stripe/acct_1` receives at `POST /in/stripe/acct_1`. */
  readonly name: string
  readonly kind: ProducerKind
  readonly maxReadMs: number
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
