import {
  checkIdentityPart,
  deliveryDigest,
  type Fingerprint,
  fingerprintJson,
  type Instant,
  type JsonReading,
  type Random,
  type ReceiptId,
  timeOrderedId,
} from '../domain/index.ts'
import type { ReceiptRecord } from '../store/index.ts'
import { nameable, noType } from './event.ts'
import type { EventFacts, Producer } from './producer.ts'

/** One event of a verified delivery. */
export interface VerifiedEvent {
  readonly producer: Producer
  /** Of `body`. */
  readonly mediaType: string
  /** What is kept of the event: the whole body of its delivery, or its own part of a batch. */
  readonly body: Uint8Array
  /** The body of its delivery as it came: what the signature covers, so also of each element of a batch. */
  readonly delivered: Fingerprint
  readonly reading: Exclude<JsonReading, { kind: 'syntax' }>
  readonly facts: EventFacts
  readonly receivedAt: Instant
  readonly origin: ReceiptRecord['origin']
  readonly waived: ReceiptRecord['waived']
}

/** Marks the id of an event whose payload cannot be read and which has no other: its bytes make it the same event. */
export const contentPrefix = 'content:'

/** @returns the receipt, or why the event has no identity */
export function toReceipt(event: VerifiedEvent, random: Random): ReceiptRecord | string {
  const { producer, reading, facts, receivedAt, delivered, origin, waived } = event
  const id = facts.id ?? (reading.kind === 'notRepresentable' ? `${contentPrefix}${delivered}` : undefined)
  if (id === undefined) return 'the delivery carries no id'
  const fault = faultOf('id', id) ?? faultOf('source', facts.source)
  if (fault !== undefined) return fault
  return {
    id: timeOrderedId<ReceiptId>('rcp', receivedAt, random.bytes(10)),
    delivery: deliveryDigest({ namespace: producer.name, source: facts.source, id }),
    producer: producer.name,
    namespace: producer.name,
    source: facts.source,
    eventId: id,
    // It is authentic whatever it calls itself: what no column can hold is quarantined as unsupported, not refused.
    type: nameable(facts.type) ?? noType,
    schemaVersion: nameable(facts.version),
    fingerprint: contentFingerprint(producer, reading, delivered),
    rawFingerprint: delivered,
    contentType: event.mediaType,
    bytes: event.body.byteLength,
    provenance: producer.kind.provenance,
    origin,
    waived,
    eventAt: facts.at,
    receivedAt,
    trace: null,
  }
}

function faultOf(what: string, part: string): string | undefined {
  const fault = checkIdentityPart(part)
  return fault === undefined ? undefined : `the ${what} of the event ${fault}`
}

function contentFingerprint(
  producer: Producer,
  reading: VerifiedEvent['reading'],
  raw: Fingerprint,
): Fingerprint {
  return reading.kind === 'read' ? fingerprintJson(reading.value, { volatile: producer.kind.volatile }) : raw
}
