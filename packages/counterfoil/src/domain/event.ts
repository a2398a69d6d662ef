import type { Fingerprint, Instant, ReceiptId } from './ids.ts'

/** What a trigger gets: a receipt's evidence and its payload, verified, parsed and fitted to the schema. */
export interface ReceivedEvent<Data = unknown> {
  readonly receipt: ReceiptId
  /** The producer's configured name, which is also its namespace. */
  readonly producer: string
  readonly source: string
  /** The producer's own id of the event. Never part of an effect key unless the contract proves one-to-one. */
  readonly id: string
  readonly type: string
  /** Schema version of `data`: what the producer names, or what a trigger's event type up-casts it to. */
  readonly version: string | null
  /** When the producer says that it happened. */
  readonly at: Instant | null
  readonly receivedAt: Instant
  /** `live`, or `backfill/NAME`. */
  readonly origin: string
  readonly fingerprint: Fingerprint
  readonly data: Data
}
