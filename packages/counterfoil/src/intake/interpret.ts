import {
  type Clock,
  CounterfoilError,
  canonicalize,
  fingerprintBytes,
  type Instant,
  type JsonReading,
  type JsonValue,
  type Random,
} from '../domain/index.ts'
import type { ReceiptRecord } from '../store/index.ts'
import type { Delivery } from './delivery.ts'
import { type Fit, fitEvent, unfit } from './event.ts'
import { readPayload } from './payload.ts'
import type { EventTypes, Producer } from './producer.ts'
import type { OwnAnswer } from './producer-kind.ts'
import { contentPrefix, toReceipt, type VerifiedEvent } from './receipt.ts'
import { type Refusal, refuse } from './refusal.ts'

/** Elements of one delivery; more come from no producer that we know. */
export const maxElements = 10_000

export interface InterpretPorts {
  readonly types: EventTypes
  readonly clock: Clock
  readonly random: Random
}

/** How a delivery came, and who vouches for it. */
export interface Provenance {
  readonly origin: ReceiptRecord['origin']
  readonly waived: ReceiptRecord['waived']
}

export const live: Provenance = { origin: 'live', waived: null }

/** One event of a delivery: its receipt, what is kept of it, and whether it can start work. */
export interface Interpreted {
  readonly receipt: ReceiptRecord
  readonly body: Uint8Array
  readonly fit: Fit
}

/** What a verified delivery holds. */
export type Interpretation =
  | Refusal
  | { readonly kind: 'handshake'; readonly answer: OwnAnswer }
  | { readonly kind: 'event'; readonly event: Interpreted }
  | { readonly kind: 'events'; readonly events: readonly Interpreted[] }

interface About extends Provenance {
  readonly mediaType: string
  readonly receivedAt: Instant
}

/** Parses what was verified: the events of a delivery, wherever it came from (design.md section 3, Intake). */
export async function interpret(
  ports: InterpretPorts,
  producer: Producer,
  delivery: Delivery,
  about: About,
): Promise<Interpretation> {
  const { kind } = producer
  const own = kind.read?.(delivery, about.mediaType, producer.numbers)
  const reads = own ?? readPayload(producer, about.mediaType, delivery.body)
  const reading = reads instanceof Promise ? await reads : reads
  if (reading.kind === 'syntax') {
    return refuse('syntax_invalid', `${reading.message}, at character ${reading.offset}`)
  }
  const payload = reading.kind === 'read' ? reading.value : undefined
  const answer = kind.handshake?.(delivery, payload) ?? null
  if (answer !== null) return { kind: 'handshake', answer }
  const elements = payload === undefined ? null : (kind.events?.(payload, delivery) ?? null)
  if (elements !== null) return await interpretAll(ports, producer, delivery, elements, about)

  const event = toVerified(producer, delivery, reading, own !== undefined, about)
  if (event.facts.wrong !== undefined) return refuse('syntax_invalid', event.facts.wrong)
  const receipt = toReceipt(event, ports.random)
  if (typeof receipt === 'string') return refuse('identity_invalid', receipt)
  const fit = await fitReading(ports, producer, receipt, reading)
  return { kind: 'event', event: { receipt, body: event.body, fit } }
}

function toVerified(
  producer: Producer,
  delivery: Delivery,
  reading: VerifiedEvent['reading'],
  isOwn: boolean,
  about: About,
): VerifiedEvent {
  const { kind } = producer
  const keptAs = kind.keptAs ?? 'application/json'
  // What a kind put together cannot be put together again from the body alone.
  const reshaped = isOwn && reading.kind === 'read' && about.mediaType !== keptAs
  return {
    ...about,
    producer,
    mediaType: reshaped ? keptAs : about.mediaType,
    body: reshaped ? Buffer.from(canonicalize(reading.value)) : delivery.body,
    delivered: fingerprintBytes(delivery.body),
    reading,
    facts: kind.facts(reading.kind === 'read' ? reading.value : undefined, delivery),
  }
}

function fitReading(
  ports: InterpretPorts,
  producer: Producer,
  { type, schemaVersion }: ReceiptRecord,
  reading: Exclude<JsonReading, { kind: 'syntax' }>,
): Fit | Promise<Fit> {
  if (reading.kind !== 'read') return unfit('not-representable', { why: reading.why, path: reading.path })
  const asked = { type, version: schemaVersion }
  // Asked of what arrives alone: an operator who reprocesses it has approved it.
  if (producer.kind.approved?.includes(type)) {
    return unfit('unsupported-type', {
      ...asked,
      why: 'it waits for an operator, who approves it by reprocessing',
    })
  }
  return fitEvent(ports.types, producer, asked, reading.value, ports.clock)
}

async function interpretAll(
  ports: InterpretPorts,
  producer: Producer,
  delivery: Delivery,
  elements: readonly JsonValue[],
  about: About,
): Promise<Interpretation> {
  if (elements.length > maxElements) {
    return refuse('body_too_large', `the delivery has more than ${maxElements} events`)
  }
  const delivered = fingerprintBytes(delivery.body)
  const events: Interpreted[] = []
  for (const value of elements) {
    const body = Buffer.from(canonicalize(value))
    const reading = { kind: 'read', value } as const
    const event = {
      ...about,
      producer,
      mediaType: producer.kind.keptAs ?? 'application/json',
      body,
      delivered,
      reading,
      facts: producer.kind.facts(value, delivery),
    }
    const receipt = event.facts.wrong ?? toReceipt(event, ports.random)
    events.push(
      typeof receipt === 'string'
        ? withoutIdentity(ports, event, receipt)
        : { receipt, body, fit: await fitReading(ports, producer, receipt, reading) },
    )
  }
  return { kind: 'events', events }
}

/** To refuse one element would be to refuse all that came with it: it waits in quarantine, named by its content. */
function withoutIdentity(ports: InterpretPorts, event: VerifiedEvent, why: string): Interpreted {
  const { body, producer, facts } = event
  const named = { ...facts, id: `${contentPrefix}${fingerprintBytes(body)}`, source: producer.kind.kind }
  const receipt = toReceipt({ ...event, facts: named }, ports.random)
  if (typeof receipt === 'string') throw new CounterfoilError('internal', receipt)
  return { receipt, body, fit: unfit('schema-failure', { faults: [{ path: '', message: why }] }) }
}
