import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type EventType, type Producer, type ProducerKind, producer } from './producer.ts'
import { refused } from './signature.ts'

/** The program itself as a producer: its events are published in its own transactions and never come over the wire. */
export interface InternalProducer extends Producer {
  /** Names a type of event, so that it can be published and triggers can subscribe to it. */
  event<Schema extends StandardSchemaV1 = StandardSchemaV1<unknown, any>>(
    type: string,
    about?: { readonly version?: string; readonly schema?: Schema },
  ): InternalEvent<StandardSchemaV1.InferInput<Schema>, StandardSchemaV1.InferOutput<Schema>>
}

/**
 * A type of event that the program publishes.
 *
 * @typeParam Input what is published
 * @typeParam Data what triggers get: the schema's output
 */
export interface InternalEvent<Input = unknown, Data = unknown> extends EventType<Data> {
  readonly schema: StandardSchemaV1<Input, Data> | undefined
}

/** Settings of a producer that is the program itself. */
export interface InternalOptions {
  /** Who looks after this producer's quarantine. Default: the configuration's owner. */
  readonly owner?: string
  /** Largest event in bytes of JSON. Default 1 MiB. */
  readonly maxBytes?: number
}

const kind: ProducerKind = {
  kind: 'internal',
  contentTypes: ['application/json'],
  // The program vouches for id and type as a signature does elsewhere.
  provenance: 'signed',
  volatile: [],
  // For as long as a program, or the people behind it, may repeat a call whose outcome they do not know.
  retryHorizon: '7d',
  maxBytes: 1_048_576,
  about: {
    signed: 'nothing: the program publishes inside its own transaction',
    identity: 'given to `publish`, else derived from type, version and data',
    identitySigned: true,
    type: 'given to `publish`',
    version: 'given to `event()`',
    freshness: 'none: it never travels',
    retries: 'as often as the program repeats the call',
    ordering: 'none',
    handshake: null,
    expects: 'nothing: `publish` returns what became of it',
    sources: [],
  },
  verify: () => refused('producer_unknown', 'this producer is the program itself'),
  facts: () => ({ id: null, source: '', type: null, version: null, at: null }),
  data: (payload) => payload,
}

/**
 * The program as a producer of its own events, for `app.publish`.
 *
 * @param name namespace, for ever: receipts are identified inside it. It is no route: nothing is received under it
 * @throws CounterfoilError `config_invalid`
 */
export function internal(name: string, options: InternalOptions = {}): InternalProducer {
  return producer(name, kind, options) as InternalProducer
}

export function isInternal(producer: Producer): boolean {
  return producer.kind === kind
}
