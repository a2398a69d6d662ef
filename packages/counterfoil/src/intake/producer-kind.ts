import type { Duration, ErrorCode, Instant, JsonReading, JsonValue } from '../domain/index.ts'
import type { Delivery } from './delivery.ts'
import type { KeySource } from './key-source.ts'

export type Verification =
  | { readonly kind: 'verified' }
  /** Nothing is stored. `why` names no secret and quotes no header value. */
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly why: string }

/** What a producer's bytes say of the event they carry. */
export interface EventFacts {
  /** Null: none is there. A delivery is refused as `identity_invalid`, an element of a batch is quarantined. */
  readonly id: string | null
  readonly source: string
  /** Null: the payload names none; it is quarantined as an unsupported type. */
  readonly type: string | null
  readonly version: string | null
  readonly at: Instant | null
  /**
   * The payload breaks the producer's own format: why, without quoting it. A delivery is refused as
   * `syntax_invalid`, an element of a batch is quarantined.
   */
  readonly wrong?: string
}

/** What is known of a kind, in words and with its sources: the table of docs/producers.md is made of it. */
export interface ProducerFacts {
  /** What the signature covers, and how. */
  readonly signed: string
  /** Where the event's id is. */
  readonly identity: string
  /** Whether the signature covers that id. */
  readonly identitySigned: boolean
  /** Where the type is. */
  readonly type: string
  /** Where the schema version is; null: there is none. */
  readonly version: string | null
  /** Which signed time is compared with the clock, and how closely. */
  readonly freshness: string
  /** When and for how long it sends again. */
  readonly retries: string
  readonly ordering: string
  /** What is asked of an endpoint before events are sent; null: nothing. */
  readonly handshake: string | null
  /** Which answer it expects, how soon, and what another one does. */
  readonly expects: string
  /** Documents and packages that say so. */
  readonly sources: readonly string[]
}

/** An answer that a producer requires in place of ours. */
export interface OwnAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** Default: our own JSON, which names the receipt. The empty text sends none, as 204 and 205 do anyway. */
  readonly body?: string
}

/**
 * The producer's own required answers; they override the numbers of design.md section 5. `accepted` stands for
 * everything that was committed, so also for the three below it that are not given.
 */
export interface OwnAnswers {
  readonly accepted?: OwnAnswer
  readonly duplicate?: OwnAnswer
  readonly quarantined?: OwnAnswer
  readonly conflict?: OwnAnswer
  /** In place of 401, such as GoCardless' 498. */
  readonly unauthenticated?: { readonly status: number }
  /** In place of 422, for a producer that switches an endpoint off for it. */
  readonly beyondRetention?: { readonly status: number }
}

/** A kind of producer: one declarative file each in `producers/`. */
export interface ProducerKind {
  readonly kind: string
  /**
   * Media types without parameters; the empty text where a delivery may come without one; `*` with a slash and
   * another `*` for any. JSON is expected of all but forms, multipart, and what `read` takes.
   */
  readonly contentTypes: readonly string[]
  /** Beside POST. Others never bring an event: they get what `handshake` answers, else 405. */
  readonly methods?: readonly ('GET' | 'HEAD' | 'OPTIONS')[]
  /** `unsigned`: id or type come from what the signature does not cover (design.md section 3). */
  readonly provenance: 'signed' | 'unsigned'
  /** JSON Pointers of members that change between deliveries of one event; they stay out of the fingerprint. */
  readonly volatile: readonly string[]
  /** How long the producer may send one event again. */
  readonly retryHorizon: Duration
  /** The producer's own largest body, in bytes. */
  readonly maxBytes: number
  /** The signature covers the URL: a producer of this kind must be configured with its `publicUrl`. */
  readonly signsUrl?: boolean
  /**
   * What a form is (`application/x-www-form-urlencoded`): `payload`, the JSON in its one member of that name;
   * `fields`, an object of its fields, where one that is repeated is an array; `either`, the former where there
   * is such a member. Default `payload`. Multipart forms are always an object of fields.
   */
  readonly form?: 'payload' | 'fields' | 'either'
  /**
   * Hosts that `verify` may fetch keys from, over https alone. `*` stands for one label:
   * `sns.*.amazonaws.com`.
   */
  readonly keyHosts?: readonly string[]
  /**
   * Types that wait for an operator: an event of one goes to quarantine even where a trigger subscribes to it, and
   * starts work only when it is reprocessed. For what changes who may send to us.
   */
  readonly approved?: readonly string[]
  readonly about: ProducerFacts
  readonly answer?: OwnAnswers

  /**
   * Over the raw bytes, before anything is parsed. Compares in constant time.
   *
   * @param keys for kinds whose keys lie elsewhere; one that throws `keys_unavailable` is answered with 503
   */
  verify(delivery: Delivery, now: Instant, keys: KeySource): Verification | Promise<Verification>
  /**
   * Only after `verify`: what to answer to a delivery that only proves that this endpoint is the receiver. No
   * receipt is kept. Null: it is an event. `payload` is undefined when the body is empty or cannot be
   * represented.
   */
  handshake?(delivery: Delivery, payload: JsonValue | undefined): OwnAnswer | null
  /**
   * Only after `verify`: reads a body of the producer's own form, or puts headers and body together to one
   * payload. Undefined: by its media type as usual. Unless the media type is `keptAs` already, the payload is
   * kept in its canonical form instead of the bytes that came.
   */
  read?(delivery: Delivery, mediaType: string, numbers: 'double' | 'lossless'): JsonReading | undefined
  /** Media type of what is kept of an element, and of what `read` made. Default `application/json`. */
  readonly keptAs?: string
  /**
   * For producers that send several events at once: its elements, each of which gets a receipt of its own, all
   * in one transaction. An element may be put together from its envelope; it is kept in its canonical form.
   * Null: the delivery is one event.
   */
  events?(payload: JsonValue, delivery: Delivery): readonly JsonValue[] | null
  /**
   * Of the payload, or of one element of it. Only after `verify`. `payload` is undefined when the body cannot
   * be represented: headers may still tell.
   */
  facts(payload: JsonValue | undefined, delivery: Delivery): EventFacts
  /** What the trigger gets as `event.data`, before its schema. Of the payload or the element alone: after a crash nothing else is there. */
  data(payload: JsonValue): JsonValue
}

/** A kind that has all its keys: it verifies at once. */
export interface OfflineKind extends ProducerKind {
  verify(delivery: Delivery, now: Instant): Verification
}
