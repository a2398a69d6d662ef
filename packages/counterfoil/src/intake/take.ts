import {
  type Clock,
  CounterfoilError,
  canonicalize,
  codeOf,
  type ErrorCode,
  fingerprintBytes,
  type Instant,
  type JsonReading,
  type JsonValue,
  type ReceivedEvent,
  type WorkerId,
} from '../domain/index.ts'
import {
  type Acceptance,
  type Accepted,
  BeyondRetention,
  type ReceiptRecord,
  type Store,
} from '../store/index.ts'
import { type AcceptancePorts, acceptance } from './acceptance.ts'
import type { Arrival } from './arrival.ts'
import { ArrivedDelivery, type Delivery } from './delivery.ts'
import { type Fit, fitEvent, toEvent, unfit } from './event.ts'
import type { Gate } from './gate.ts'
import { inflate, isKnownCoding } from './inflate.ts'
import type { KeySource } from './key-source.ts'
import { acceptedType, readPayload } from './payload.ts'
import type { EventTypes, Producer } from './producer.ts'
import type { OwnAnswer, Verification } from './producer-kind.ts'
import { contentPrefix, toReceipt, type VerifiedEvent } from './receipt.ts'

/** How the engine takes over what was just accepted, in memory. An optimisation: the outbox record is durable. */
export interface HandOff {
  /** Before the receipt is written: room, and the lease its record gets; null when it should wait in the store. */
  reserve(): { readonly worker: WorkerId; readonly leaseMs: number } | null
  deliver(work: { readonly outbox: number; readonly event: ReceivedEvent }): void
  /** Nothing came of it. */
  release(): void
}

export interface TakePorts extends AcceptancePorts {
  readonly types: EventTypes
  readonly store: Pick<Store, 'accept' | 'acceptAll'>
  readonly clock: Clock
  readonly handOff: HandOff | null
}

export interface Refusal {
  readonly kind: 'refused'
  readonly code: ErrorCode
  readonly why: string
  /** When another try makes sense. */
  readonly retryAfterMs?: number
  /** Further members of the answer. */
  readonly members?: Readonly<Record<string, unknown>>
}

export function refuse(code: ErrorCode, why: string): Refusal {
  return { kind: 'refused', code, why }
}

/** What became of a delivery. An `Accepted` is one event, an array the elements of a batch, in their order. */
export type Taken =
  | Accepted
  | readonly Accepted[]
  | Refusal
  | { readonly kind: 'handshake'; readonly answer: OwnAnswer }

/** Elements of one delivery; more come from no producer that we know. */
export const maxElements = 10_000

/**
 * A delivery, from the first byte to the commit: limits, verification of the raw bytes, then parsing, then one
 * transaction (design.md section 3, Intake).
 *
 * @throws whatever is our own fault
 */
export async function take(ports: TakePorts, gate: Gate, arrival: Arrival): Promise<Taken> {
  const { producer, keys, rate } = gate
  const { kind } = producer
  const waitMs = rate === null ? 0 : rate.wait()
  if (waitMs > 0) {
    return { kind: 'refused', code: 'rate_limited', why: 'more than the rate allows', retryAfterMs: waitMs }
  }
  if (arrival.method !== 'POST') return await shakeHands(ports, producer, keys, arrival)
  const coding = arrival.header('content-encoding')
  if (!isKnownCoding(coding)) {
    return refuse('content_encoding_unsupported', 'of content codings gzip, deflate and br are understood')
  }
  const mediaType = acceptedType(kind.contentTypes, arrival.header('content-type'))
  if (mediaType === null) {
    return refuse('content_type_unsupported', `this producer sends ${kind.contentTypes.join(' or ')}`)
  }
  const wire = await arrival.readBody(producer, ports.clock)
  if (wire.kind === 'refused') return wire
  const read = coding === null ? wire : await inflate(coding, wire.body, producer.maxBytes)
  if (read.kind === 'refused') return read
  const delivery = new ArrivedDelivery(arrival, producer.publicUrl, read.body)
  const receivedAt = ports.clock.now()
  // Nothing is awaited that is there already: most kinds have their keys, and most payloads are JSON.
  const verifying = verify(producer, delivery, receivedAt, keys)
  const verification = verifying instanceof Promise ? await verifying : verifying
  if (verification.kind === 'refused') return verification
  rate?.take()

  const own = kind.read?.(delivery, mediaType, producer.numbers)
  const reads = own ?? readPayload(producer, mediaType, read.body)
  const reading = reads instanceof Promise ? await reads : reads
  if (reading.kind === 'syntax') {
    return refuse('syntax_invalid', `${reading.message}, at character ${reading.offset}`)
  }
  const payload = reading.kind === 'read' ? reading.value : undefined
  const answer = kind.handshake?.(delivery, payload) ?? null
  if (answer !== null) return { kind: 'handshake', answer }
  const elements = payload === undefined ? null : (kind.events?.(payload, delivery) ?? null)
  if (elements !== null) return await takeAll(ports, producer, delivery, elements, receivedAt)

  const event = toVerified(producer, delivery, mediaType, reading, own !== undefined, receivedAt)
  if (event.facts.wrong !== undefined) return refuse('syntax_invalid', event.facts.wrong)
  const receipt = toReceipt(event, ports.random)
  if (typeof receipt === 'string') return refuse('identity_invalid', receipt)
  return await accept(ports, receipt, event.body, await fitReading(ports, producer, receipt, reading))
}

function verify(
  producer: Producer,
  delivery: Delivery,
  now: Instant,
  keys: KeySource,
): Verification | Promise<Verification> {
  const verification = producer.kind.verify(delivery, now, keys)
  return verification instanceof Promise ? verification.catch(refusedAddress) : verification
}

/** The address is the sender's choice; anything else that goes wrong is our own fault. */
function refusedAddress(error: unknown): Verification {
  if (codeOf(error) !== 'key_address_refused') throw error
  return refuse('key_address_refused', (error as CounterfoilError).message)
}

/** A request without a body of its own brings no event. It is verified all the same before it is answered. */
async function shakeHands(
  ports: TakePorts,
  producer: Producer,
  keys: KeySource,
  arrival: Arrival,
): Promise<Taken> {
  const delivery = new ArrivedDelivery(arrival, producer.publicUrl, new Uint8Array(0))
  const verification = await verify(producer, delivery, ports.clock.now(), keys)
  if (verification.kind === 'refused') return verification
  const answer = producer.kind.handshake?.(delivery, undefined) ?? null
  return answer === null
    ? refuse('method_not_allowed', 'deliveries are sent with POST')
    : { kind: 'handshake', answer }
}

function toVerified(
  producer: Producer,
  delivery: Delivery,
  mediaType: string,
  reading: VerifiedEvent['reading'],
  isOwn: boolean,
  receivedAt: Instant,
): VerifiedEvent {
  const { kind } = producer
  const keptAs = kind.keptAs ?? 'application/json'
  // What a kind put together cannot be put together again from the body alone.
  const reshaped = isOwn && reading.kind === 'read' && mediaType !== keptAs
  return {
    producer,
    mediaType: reshaped ? keptAs : mediaType,
    body: reshaped ? Buffer.from(canonicalize(reading.value)) : delivery.body,
    delivered: fingerprintBytes(delivery.body),
    reading,
    facts: kind.facts(reading.kind === 'read' ? reading.value : undefined, delivery),
    receivedAt,
  }
}

function fitReading(
  ports: TakePorts,
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

/** All elements in one transaction: an answer that acknowledges some of them is one that no producer understands. */
async function takeAll(
  ports: TakePorts,
  producer: Producer,
  delivery: Delivery,
  elements: readonly JsonValue[],
  receivedAt: Instant,
): Promise<readonly Accepted[] | Refusal> {
  if (elements.length > maxElements) {
    return refuse('body_too_large', `the delivery has more than ${maxElements} events`)
  }
  const delivered = fingerprintBytes(delivery.body)
  const entries: Entry[] = []
  try {
    for (const value of elements) {
      const body = Buffer.from(canonicalize(value))
      const reading = { kind: 'read', value } as const
      const event = {
        producer,
        mediaType: producer.kind.keptAs ?? 'application/json',
        body,
        delivered,
        reading,
        facts: producer.kind.facts(value, delivery),
        receivedAt,
      }
      const receipt = event.facts.wrong ?? toReceipt(event, ports.random)
      const entry =
        typeof receipt === 'string'
          ? withoutIdentity(ports, event, receipt)
          : { receipt, fit: await fitReading(ports, producer, receipt, reading) }
      // One that is beyond retention waits in quarantine: to refuse it would be to refuse the others.
      entries.push(toEntry(ports, entry.receipt, body, entry.fit, 'quarantined'))
    }
    if (entries.length === 0) return []
    const accepted = await ports.store.acceptAll(entries.map(({ acceptance }) => acceptance))
    for (const [index, one] of accepted.entries()) handOver(ports, entries[index]!, one)
    return accepted
  } finally {
    for (const entry of entries) giveBack(ports, entry)
  }
}

/** To refuse one element would be to refuse all that came with it: it waits in quarantine, named by its content. */
function withoutIdentity(ports: TakePorts, event: VerifiedEvent, why: string) {
  const { kind } = event.producer
  const facts = { ...event.facts, id: `${contentPrefix}${fingerprintBytes(event.body)}`, source: kind.kind }
  const receipt = toReceipt({ ...event, facts }, ports.random)
  if (typeof receipt === 'string') throw new CounterfoilError('internal', receipt)
  return { receipt, fit: unfit('schema-failure', { faults: [{ path: '', message: why }] }) }
}

/** An acceptance with the place that is held for it at whoever plans it. */
interface Entry {
  readonly acceptance: Acceptance
  readonly fit: Fit
  /** The place is neither used nor given back yet. */
  holdsPlace: boolean
}

/** Design decision 1: one transaction. Whoever plans it is told after the commit, and told nothing if there was none. */
async function accept(
  ports: TakePorts,
  receipt: ReceiptRecord,
  body: Uint8Array,
  fit: Fit,
): Promise<Accepted | Refusal> {
  const entry = toEntry(ports, receipt, body, fit)
  try {
    const accepted = await ports.store.accept(entry.acceptance)
    handOver(ports, entry, accepted)
    return accepted
  } catch (error) {
    if (!(error instanceof BeyondRetention)) throw error
    const boundary = new Date(error.boundary).toISOString()
    return { ...refuse('beyond_retention', error.message), members: { boundary } }
  } finally {
    giveBack(ports, entry)
  }
}

function toEntry(
  ports: TakePorts,
  receipt: ReceiptRecord,
  body: Uint8Array,
  fit: Fit,
  beyond?: Acceptance['beyond'],
): Entry {
  const lease = fit.kind === 'fits' ? (ports.handOff?.reserve() ?? null) : null
  try {
    const made = acceptance(ports, receipt, body, fit, lease)
    const entry = beyond === undefined ? made : { ...made, beyond }
    return { acceptance: entry, fit, holdsPlace: lease !== null }
  } catch (error) {
    if (lease !== null) ports.handOff?.release()
    throw error
  }
}

function handOver(ports: TakePorts, entry: Entry, accepted: Accepted): void {
  if (!entry.holdsPlace || entry.fit.kind !== 'fits' || accepted.outcome !== 'accepted') return
  entry.holdsPlace = false
  ports.handOff?.deliver({
    outbox: accepted.outbox,
    event: toEvent(entry.acceptance.receipt, entry.fit),
  })
}

function giveBack(ports: TakePorts, entry: Entry): void {
  if (!entry.holdsPlace) return
  entry.holdsPlace = false
  ports.handOff?.release()
}
