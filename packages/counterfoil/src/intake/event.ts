import { fitSchema, type JsonValue, type ReceivedEvent, type SchemaFault } from '../domain/index.ts'
import type { QuarantineReason, ReceiptRecord, ReceiptView } from '../store/index.ts'
import { readPayload } from './payload.ts'
import type { EventType, EventTypes, Producer } from './producer.ts'

/** Why an authentic event cannot start work. */
export interface Unfit {
  readonly kind: 'quarantine'
  readonly reason: QuarantineReason
  readonly detail: Readonly<Record<string, unknown>>
}

export type Opened = { readonly kind: 'event'; readonly event: ReceivedEvent } | Unfit

/** Finds who subscribed to this type and version, and fits the data to their schema. */
export async function fitEvent(
  types: EventTypes,
  producer: Producer,
  type: string | null,
  version: string | null,
  payload: JsonValue,
): Promise<{ readonly kind: 'fits'; readonly data: unknown } | Unfit> {
  const known = types.get(producer.name)
  const ofType = type === null ? undefined : known?.get(type)
  if (ofType === undefined) {
    return unfit('unsupported-type', {
      type: type ?? null,
      supported: [...(known?.keys() ?? [])].slice(0, 50),
    })
  }
  const subscribed = ofType.filter((one) => one.version === undefined || one.version === version)
  if (subscribed.length === 0) {
    return unfit('unsupported-type', { type, version, supportedVersions: ofType.map((one) => one.version) })
  }
  return await fitAll(subscribed, producer.kind.data(payload))
}

/** Every subscriber's schema must fit; the trigger gets the value of the last one, which is the only one as a rule. */
async function fitAll(
  subscribed: readonly EventType[],
  data: JsonValue,
): Promise<{ readonly kind: 'fits'; readonly data: unknown } | Unfit> {
  let fittedData: unknown = data
  for (const { schema } of subscribed) {
    if (schema === undefined) continue
    try {
      const fitted = await fitSchema(schema, data)
      if (!fitted.ok)
        return unfit('schema-failure', { faults: fitted.faults satisfies readonly SchemaFault[] })
      fittedData = fitted.value
    } catch (error) {
      // A schema that throws fails for this payload each time: answering 503 would make its sender try for ever.
      const message = (error instanceof Error ? error.name : 'error').slice(0, 200)
      return unfit('schema-failure', {
        faults: [{ path: '', message: `the schema itself threw: ${message}` }],
      })
    }
  }
  return { kind: 'fits', data: fittedData }
}

/** Opens a stored payload again, with the schemas of today: after a crash, or when memory was full. */
export async function readEvent(
  producers: ReadonlyMap<string, Producer>,
  types: EventTypes,
  receipt: ReceiptView,
  body: Uint8Array,
): Promise<Opened> {
  const producer = producers.get(receipt.producer)
  if (producer === undefined)
    return unfit('unsupported-type', {
      type: receipt.type,
      producer: `${receipt.producer} is not configured`,
    })
  const reading = readPayload(producer, receipt.contentType, body)
  if (reading.kind !== 'read')
    return unfit('not-representable', { why: reading.kind === 'syntax' ? reading.message : reading.why })
  const fit = await fitEvent(types, producer, receipt.type, receipt.schemaVersion, reading.value)
  return fit.kind === 'fits' ? { kind: 'event', event: toEvent(receipt, fit.data) } : fit
}

export function toEvent(receipt: ReceiptRecord, data: unknown): ReceivedEvent {
  return {
    receipt: receipt.id,
    producer: receipt.producer,
    source: receipt.source,
    id: receipt.eventId,
    type: receipt.type,
    version: receipt.schemaVersion,
    at: receipt.eventAt,
    receivedAt: receipt.receivedAt,
    origin: receipt.origin,
    fingerprint: receipt.fingerprint,
    data,
  }
}

function unfit(reason: QuarantineReason, detail: Readonly<Record<string, unknown>>): Unfit {
  return { kind: 'quarantine', reason, detail }
}
