/** One message as a broker hands it over: nothing of it is parsed. */
export interface BrokerMessage {
  /** By lower-case name, at most one of each: `ce-id`, `content-type`, and what the broker's own headers are. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** How often it was handed over, this time included, as far as the broker counts. */
  readonly deliveries: number
  /** Where it lies at the broker, for people and log lines. Never an identity: it changes when a stream is restored. */
  readonly position: string
}

/** What becomes of a message at its broker. */
export type Verdict =
  /** Its receipt is committed. */
  | { readonly kind: 'acknowledge' }
  /** Nothing is committed, as far as is known: it comes again, not before this time. */
  | { readonly kind: 'again'; readonly afterMs: number }
  /** It is refused for good: it goes where a person finds it, and blocks nothing. */
  | { readonly kind: 'reject'; readonly code: string; readonly why: string }

/** Never rejects. Called for as many messages at once as the consumer has in flight. */
export type TakeMessage = (message: BrokerMessage) => Promise<Verdict>

export interface ConsumerPorts {
  readonly take: TakeMessage
  /** Told in one clause of what goes wrong at the broker; the consumer tries again by itself. */
  readonly onFault: (why: string) => void
}

/**
 * The way in from one broker (design.md section 7, transports). `transports/conformance.ts` is its meaning as tests.
 *
 * Every message is handed to `take` at least once and settled at the broker by its verdict. One that is not settled,
 * because the process or the connection died, is handed over again, to whoever consumes then.
 */
export interface Consumer {
  readonly broker: string
  /** Begins; connects, and connects again whenever that is needed. Throws only for what is wrong in its options. */
  start(ports: ConsumerPorts): void
  /** Takes no more, waits for the messages in hand to be settled, and disconnects. */
  stop(): Promise<void>
}
