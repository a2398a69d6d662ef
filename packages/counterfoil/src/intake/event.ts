import {
  type Clock,
  checkIdentityPart,
  fitSchema,
  type JsonValue,
  type ReceivedEvent,
  type SchemaFault,
} from '../domain/index.ts'
import type { QuarantineReason, ReceiptRecord, ReceiptView } from '../store/index.ts'
import { readPayload } from './payload.ts'
import type { EventTypes, Producer } from './producer.ts'
import { entryOf, upcastData, versionsOf } from './schema-version.ts'

/** Why an authentic event cannot start work. */
export interface Unfit {
  readonly kind: 'quarantine'
  readonly reason: QuarantineReason
  readonly detail: Readonly<Record<string, unknown>>
}

export type Opened = { readonly kind: 'event'; readonly event: ReceivedEvent } | Unfit
/** `version` is that of the data: the receipt's, or the one that it was up-cast to. */
export type Fit = { readonly kind: 'fits'; readonly data: unknown; readonly version: string | null } | Unfit

/** What a receipt says of the type of an event that names none, or one that no receipt can hold. */
export const noType = '-'
/** Supported names that a quarantine entry lists. */
const maxListed = 50

/**
 * Finds who subscribed to this type and version, and fits the data to their schema.
 *
 * @param type as the receipt has it
 */
export async function fitEvent(
  types: EventTypes,
  producer: Producer,
  { type, version }: { readonly type: string; readonly version: string | null },
  payload: JsonValue,
  clock?: Clock,
): Promise<Fit> {
  const known = types.get(producer.name)
  const ofType = known?.get(type)
  if (ofType === undefined) {
    return unfit('unsupported-type', {
      type: type === noType ? null : type,
      version,
      supported: [...(known?.keys() ?? [])].slice(0, maxListed),
    })
  }
  // Two that can meet the same event share their schema: `eventTypes` sees to it.
  const subscribed = ofType.find((one) => entryOf(one, version) !== undefined)
  if (subscribed === undefined) {
    const supportedVersions = ofType.flatMap(versionsOf).slice(0, maxListed)
    return unfit('unsupported-type', { type, version, supportedVersions })
  }
  const entry = entryOf(subscribed, version)!
  const given = subscribed.version ?? version
  let data = producer.kind.data(payload)
  if (entry >= 0) {
    const upcast = await upcastData(subscribed.upcast.slice(entry), data, clock)
    if (!upcast.ok) return misfit(upcast.faults)
    data = upcast.value
  }
  if (subscribed.schema === undefined) return { kind: 'fits', data, version: given }
  const fitted = await fitSchema(subscribed.schema, data, clock)
  return fitted.ok ? { kind: 'fits', data: fitted.value, version: given } : misfit(fitted.faults)
}

/**
 * Opens a stored payload again, with the schemas of today: after a crash, or when memory was full. Identity and
 * type come from the receipt, so what a header said is not asked for again.
 *
 * @param clock for the time limit of an asynchronous schema; without it there is none
 */
export async function readEvent(
  producers: ReadonlyMap<string, Producer>,
  types: EventTypes,
  receipt: ReceiptView,
  payload: Uint8Array,
  clock?: Clock,
): Promise<Opened> {
  const producer = producers.get(receipt.producer)
  if (producer === undefined) {
    return unfit('unsupported-type', {
      type: receipt.type,
      version: receipt.schemaVersion,
      producer: `${receipt.producer} is not configured`,
    })
  }
  const reading = await readPayload(producer, receipt.contentType, payload)
  if (reading.kind === 'syntax') return unfit('not-representable', { why: reading.message, path: '' })
  if (reading.kind === 'notRepresentable') {
    return unfit('not-representable', { why: reading.why, path: reading.path })
  }
  const asked = { type: receipt.type, version: receipt.schemaVersion }
  const fit = await fitEvent(types, producer, asked, reading.value, clock)
  return fit.kind === 'fits' ? { kind: 'event', event: toEvent(receipt, fit) } : fit
}

/** Whether a trigger would get an event of this type and version today. */
export function isSupported(
  types: EventTypes,
  producer: string,
  type: string,
  version: string | null,
): boolean {
  return (
    types
      .get(producer)
      ?.get(type)
      ?.some((one) => entryOf(one, version) !== undefined) ?? false
  )
}

export function toEvent(
  receipt: ReceiptRecord,
  { data, version }: Extract<Fit, { kind: 'fits' }>,
): ReceivedEvent {
  return {
    receipt: receipt.id,
    producer: receipt.producer,
    source: receipt.source,
    id: receipt.eventId,
    type: receipt.type,
    version,
    at: receipt.eventAt,
    receivedAt: receipt.receivedAt,
    origin: receipt.origin,
    fingerprint: receipt.fingerprint,
    data,
  }
}

/** A type or version that no column should hold (too long, control characters) is nobody's: null. */
export function nameable(text: string | null): string | null {
  return text !== null && checkIdentityPart(text) === undefined ? text : null
}

function misfit(faults: readonly SchemaFault[]): Unfit {
  return unfit('schema-failure', { faults })
}

export function unfit(reason: QuarantineReason, detail: Readonly<Record<string, unknown>>): Unfit {
  return { kind: 'quarantine', reason, detail }
}
