import type { Message } from './message.ts'

/** What a broker's answer to one message proves. `why` is one clause without payload or secret. */
export type Published =
  | {
      readonly kind: 'confirmed'
      /** Where the broker has it, for people: `orders 17`. */
      readonly position: string
      /** The broker had it from an earlier attempt and dropped this one. */
      readonly duplicate?: boolean
    }
  /** The broker will not have it, whenever it comes: too large, no such stream. */
  | { readonly kind: 'refused'; readonly why: string }
  /** Proof that the broker has nothing of this attempt and never will. */
  | { readonly kind: 'notActed'; readonly why: string }
  | { readonly kind: 'unknown'; readonly why: string }

export interface PublishAbout {
  /** Aborts at the deadline and when the process stops. */
  readonly signal: AbortSignal
  /** In milliseconds since the Unix epoch. */
  readonly deadline: number
}

/**
 * The way out to one broker (design.md section 7, transports). `transports/conformance.ts` is its meaning as tests.
 *
 * A message goes out at most once for each call: no retry, and no buffer that outlives the connection, because what
 * is sent by a client on its own later is late for everyone. It is `confirmed` only by the broker's own
 * acknowledgement of a stored message.
 */
export interface Publisher {
  /** For people: `nats`. */
  readonly broker: string
  /** Never rejects: whatever goes wrong is one of the kinds. Connects when there is no connection. */
  publish(message: Message, about: PublishAbout): Promise<Published>
  /** Ends the connection; what is in flight becomes unknown. A later `publish` connects again. */
  close(): Promise<void>
}
