import { hash } from 'node:crypto'
import { CounterfoilError, type IdempotencyKey, type JsonValue } from '../domain/index.ts'
import { type CloudEvent, readCloudEvent } from '../intake/index.ts'
import type { Order } from '../store/index.ts'

/** A message as an effect's `request` function gives it: fixed at planning, the same for every attempt. */
export interface OutgoingMessage {
  /** Where it goes: a subject, stream, topic or queue, as the broker calls it. */
  readonly to: string
  /** CloudEvents `type`, such as `com.example.order.paid`. */
  readonly type: string
  readonly data?: JsonValue
  /** CloudEvents attributes beside `id`, `source` and `type`: `subject`, `time`, `dataschema`, extensions. */
  readonly attributes?: Readonly<Record<string, string>>
}

/** What is stored of it: a CloudEvent that lacks its id, which is the idempotency key. */
export interface StoredMessage {
  readonly to: string
  readonly event: Readonly<Record<string, JsonValue>>
}

/** One message on its way to a broker. The same effect gives the same one at every attempt. */
export interface Message {
  /** The idempotency key: the `id` of the event. */
  readonly id: IdempotencyKey
  /**
   * What a broker that drops duplicates knows it by: a digest of `source` and `id`, of 46 characters that fit anywhere. The
   * id alone is that of another program too, if it has a recipient of that name and an effect of that key.
   */
  readonly duplicateId: string
  readonly to: string
  readonly event: CloudEvent
  /** Where its effect claims order: the broker's partition or group, and its number in there. */
  readonly order: Order | null
}

/** Attributes that Counterfoil writes. */
const written = [
  'specversion',
  'id',
  'source',
  'type',
  'data',
  'data_base64',
  'sequence',
  'sequencetype',
  'partitionkey',
]

/** @throws CounterfoilError `effect_payload_invalid` for what is no CloudEvent */
export function toStored(
  { to, type, data, attributes = {} }: OutgoingMessage,
  source: string,
): StoredMessage {
  const own = Object.keys(attributes).find((name) => written.includes(name))
  if (own !== undefined) throw invalid(`the attribute ${own} is written by Counterfoil`)
  if (typeof to !== 'string' || to === '') throw invalid('it goes nowhere')
  const event = { specversion: '1.0', source, type, ...attributes, ...(data === undefined ? {} : { data }) }
  const reading = readCloudEvent({ ...event, id: 'any' })
  if (reading.kind === 'wrong') throw invalid(reading.why)
  return { to, event }
}

/**
 * The event with its id; and with its place in the ordering domain as the documented extensions `partitionkey` and
 * `sequence` (CloudEvents 1.0.2, extensions), so that a reader can tell what came late.
 */
export function toMessage({ to, event }: StoredMessage, id: IdempotencyKey, order: Order | null): Message {
  const place =
    order === null
      ? {}
      : { partitionkey: order.domain, sequence: String(order.version), sequencetype: 'Integer' }
  const reading = readCloudEvent({ ...event, ...place, id })
  if (reading.kind === 'wrong')
    throw new CounterfoilError('store_corrupt', `A stored message: ${reading.why}.`)
  const duplicateId = `cf_${hash('sha256', `${reading.event.source}\n${id}`, 'base64url')}`
  return { id, duplicateId, to, event: reading.event, order }
}

function invalid(why: string): CounterfoilError {
  return new CounterfoilError('effect_payload_invalid', `A message is not one that can be sent: ${why}.`)
}
