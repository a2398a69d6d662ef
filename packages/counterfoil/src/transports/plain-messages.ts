import { CounterfoilError, type JsonValue, readPointer } from '../domain/index.ts'
import type { Delivery, OfflineKind } from '../intake/index.ts'

/** Where something stands in a message: one of its headers, or a member of its JSON body. */
export type MessagePlace = { readonly header: string } | { readonly pointer: string }

export interface PlainMessagesOptions {
  /**
   * What its sender tells one message from another by: the header `Nats-Msg-Id`, a number of an order in the body.
   * Never where it lies at the broker: that is another one after a restore, and the same one for another message.
   */
  readonly id: MessagePlace
  /** The event type: one for all messages, or where it stands. */
  readonly type: string | MessagePlace
}

/**
 * Messages of JSON that are no CloudEvents. Whoever may publish at the broker may send: its permissions vouch for the
 * sender. One without its id is refused as `identity_invalid`.
 *
 * @throws CounterfoilError `config_invalid` for a place that is an offset
 */
export function plainMessages({ id, type }: PlainMessagesOptions): OfflineKind {
  if ('header' in id && offsets.test(id.header)) {
    throw new CounterfoilError(
      'config_invalid',
      `'${id.header}' says where a message lies, not which it is.`,
      {
        hint: 'Name what its sender gave it: a header such as Nats-Msg-Id, or a member of its body.',
      },
    )
  }
  return {
    kind: 'messages',
    contentTypes: ['application/json', ''],
    // No signature covers anything: content that comes under another id is reported.
    provenance: 'unsigned',
    volatile: [],
    // As long as brokers usually keep what nobody acknowledged.
    retryHorizon: '14d',
    maxBytes: 1_048_576,
    about: {
      signed: 'nothing: the permissions of the broker vouch for the sender',
      identity: 'as configured: a header or a member of the body',
      identitySigned: false,
      type: 'as configured',
      version: null,
      freshness: 'none',
      retries: 'until it is acknowledged',
      ordering: 'none promised',
      handshake: null,
      expects: 'an acknowledgement after the commit',
      sources: [],
    },
    verify: () => ({ kind: 'verified' }),
    facts: (payload, delivery) => ({
      id: textAt(id, payload, delivery),
      source: 'messages',
      type: typeof type === 'string' ? type : textAt(type, payload, delivery),
      version: null,
      at: null,
    }),
    data: (payload) => payload,
  }
}

/** Headers that brokers, and programs that forward messages, give positions in. */
const offsets = /offset|sequence|stream-?pos/i

function textAt(place: MessagePlace, payload: JsonValue | undefined, delivery: Delivery): string | null {
  if ('header' in place) return delivery.header(place.header.toLowerCase())
  const found = payload === undefined ? undefined : readPointer(payload, place.pointer)
  return typeof found === 'string' || typeof found === 'number' ? String(found) : null
}
