import {
  type Clock,
  CounterfoilError,
  fingerprintBytes,
  fingerprintJson,
  type JsonValue,
  readJson,
  type Tracing,
} from '../domain/index.ts'
import type { Acceptance, Accepted, SqlExecutor, Store } from '../store/index.ts'
import { type AcceptancePorts, acceptance } from './acceptance.ts'
import { fitEvent, type Unfit } from './event.ts'
import type { InternalEvent } from './internal.ts'
import { live } from './interpret.ts'
import type { EventTypes, Producer } from './producer.ts'
import { contentPrefix, toReceipt } from './receipt.ts'
import { acceptTraced } from './traced-acceptance.ts'

/** An event that the program publishes. */
export interface OutgoingEvent<Input> {
  readonly type: InternalEvent<Input, any>
  /**
   * Says which event it is, inside its producer: the same id is the same event. Default: derived from type,
   * version and data, so that a repeated call is the same event; give one where two events may look alike.
   */
  readonly id?: string
  /** What the event's schema takes, as far as JSON can carry it. */
  readonly data: NoInfer<Input>
}

export interface PublishPorts extends AcceptancePorts {
  readonly producers: ReadonlyMap<string, Producer>
  readonly types: EventTypes
  readonly store: Pick<Store, 'acceptIn'>
  readonly clock: Clock
  readonly tracing: Tracing
}

/**
 * Writes an event of the program's own in the program's own transaction: the same receipt and outbox record that
 * a delivery gets. What is wrong with it is thrown before anything is written, as the caller can mend it.
 *
 * @returns `accepted`; `duplicate` for an event that was published before; `conflict` for its id with other
 *   content, which is kept in quarantine and never processed
 * @throws CounterfoilError `event_unknown`, `event_invalid`, `identity_invalid`, and what `acceptIn` throws
 */
export async function publish<Input>(
  ports: PublishPorts,
  executor: SqlExecutor,
  outgoing: OutgoingEvent<Input>,
): Promise<Accepted> {
  return await write(ports, outgoing, (entry) => ports.store.acceptIn(executor, entry))
}

/** The same in a transaction of the store's own. */
export async function publishAlone<Input>(
  ports: PublishPorts & { readonly store: Pick<Store, 'accept'> },
  outgoing: OutgoingEvent<Input>,
): Promise<Accepted> {
  return await write(ports, outgoing, (entry) => ports.store.accept(entry))
}

async function write<Input>(
  ports: PublishPorts,
  { type: published, id, data }: OutgoingEvent<Input>,
  accept: (entry: Acceptance) => Promise<Accepted>,
): Promise<Accepted> {
  const { producer, type } = published
  const version = published.version ?? null
  if (ports.producers.get(producer.name) !== producer) {
    throw unknown(type, `producer '${producer.name}' is not the one that the configuration has`)
  }
  const body = toJson(type, data, producer.maxBytes)
  const reading = readJson(body, { numbers: producer.numbers })
  if (reading.kind !== 'read') {
    throw invalid(
      type,
      reading.kind === 'syntax' ? reading.message : `${reading.path || '/'}: ${reading.why}`,
    )
  }
  // What is fitted is what a trigger will read, not what was given: a Date has become text by now.
  const fit = await fitEvent(ports.types, producer, { type, version }, reading.value, ports.clock)
  if (fit.kind !== 'fits') throw unfit(type, fit)
  const receivedAt = ports.clock.now()
  const facts = {
    id: id ?? derivedId(type, version, reading.value),
    source: producer.name,
    type,
    version,
    at: receivedAt,
  }
  const [mediaType = ''] = producer.kind.contentTypes
  const delivered = fingerprintBytes(body)
  const event = { producer, mediaType, body, delivered, reading, facts, receivedAt, ...live }
  const receipt = toReceipt(event, ports.random)
  if (typeof receipt === 'string') {
    throw new CounterfoilError('identity_invalid', `Event '${type}' was not published: ${receipt}.`)
  }
  return await acceptTraced(ports.tracing, { receipt, body, fit }, 'current', (event) =>
    accept(acceptance(ports, event.receipt, body, fit, null)),
  )
}

function derivedId(type: string, version: string | null, data: JsonValue): string {
  return `${contentPrefix}${fingerprintJson({ type, version, data })}`
}

function toJson(type: string, data: unknown, maxBytes: number): Uint8Array {
  let text: string | undefined
  try {
    text = JSON.stringify(data)
  } catch (error) {
    // Its message may quote the data.
    throw invalid(type, 'JSON cannot hold it', error)
  }
  if (text === undefined) throw invalid(type, `${typeof data} is no JSON`)
  const body = Buffer.from(text)
  if (body.byteLength > maxBytes) throw invalid(type, `it is larger than ${maxBytes} bytes`)
  return body
}

function unfit(type: string, { reason, detail }: Unfit): CounterfoilError {
  if (reason === 'unsupported-type') return unknown(type, 'no trigger subscribes to it in this version')
  const faults = (detail as { faults?: readonly { path: string; message: string }[] }).faults ?? []
  return invalid(type, faults.map(({ path, message }) => `${path || '/'}: ${message}`).join('; '))
}

function invalid(type: string, why: string, cause?: unknown): CounterfoilError {
  return new CounterfoilError('event_invalid', `Event '${type}' was not published: ${why}.`, {
    hint: 'Nothing was written: the transaction is as it was.',
    cause,
  })
}

function unknown(type: string, why: string): CounterfoilError {
  return new CounterfoilError('event_unknown', `Event '${type}' was not published: ${why}.`, {
    hint: 'Give the same event() value to a trigger of the configuration that publishes.',
  })
}
