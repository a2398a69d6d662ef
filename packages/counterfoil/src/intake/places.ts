import { CounterfoilError, isPointer, type JsonValue, readPointer } from '../domain/index.ts'
import { instantOf, nameOf, textOf } from './members.ts'
import type { Delivery, EventFacts, ProducerKind } from './producer.ts'

/** A JSON Pointer into the payload, or a header. */
export type Place = `/${string}` | { readonly header: string }

/** Where a producer that is described in a configuration keeps what identifies an event. */
export interface EventPlaces {
  readonly id: Place
  readonly type: Place
  readonly version?: Place
  /** RFC 3339, or seconds. */
  readonly at?: Place
  /** The account, where one endpoint serves several. Default: the kind. */
  readonly source?: Place
  /** What the trigger gets. Default: the whole payload. */
  readonly data?: `/${string}`
}

/** What the signature covers. */
export interface Coverage {
  readonly body: boolean
  /** In lower case. */
  readonly headers: readonly string[]
}

/**
 * The half of a kind that reads events by their places.
 *
 * @throws CounterfoilError `config_invalid` when a place is none
 */
export function readsPlaces(
  kind: string,
  places: EventPlaces,
  covered: Coverage,
): Pick<ProducerKind, 'facts' | 'data' | 'provenance'> {
  for (const place of [places.id, places.type, places.version, places.at, places.source, places.data]) {
    if (place !== undefined && !isPlace(place)) throw noPlace(kind)
  }
  const isSigned = (place: Place) =>
    typeof place === 'string' ? covered.body : covered.headers.includes(place.header.toLowerCase())
  const { id, type, version, at, source, data } = places
  return {
    provenance: isSigned(id) && isSigned(type) ? 'signed' : 'unsigned',
    facts: (payload, delivery): EventFacts => ({
      id: nameOf(valueAt(id, payload, delivery)),
      source: (source === undefined ? null : nameOf(valueAt(source, payload, delivery))) ?? kind,
      type: textOf(valueAt(type, payload, delivery)),
      version: version === undefined ? null : nameOf(valueAt(version, payload, delivery)),
      at: at === undefined ? null : instantOf(valueAt(at, payload, delivery)),
    }),
    data: (payload) =>
      data === undefined ? payload : ((readPointer(payload, data) as JsonValue | undefined) ?? payload),
  }
}

/** A place, for people. */
export function placeInWords(place: Place | undefined): string | null {
  if (place === undefined) return null
  return typeof place === 'string' ? `\`${place}\`` : `header \`${place.header}\``
}

function valueAt(place: Place, payload: JsonValue | undefined, delivery: Delivery): JsonValue | undefined {
  if (typeof place === 'string') return readPointer(payload, place) as JsonValue | undefined
  return delivery.header(place.header.toLowerCase()) ?? undefined
}

function isPlace(place: unknown): boolean {
  if (typeof place === 'string') return place !== '' && isPointer(place)
  return typeof place === 'object' && place !== null && 'header' in place && isHeaderName(place.header)
}

/** A field name (RFC 9110 section 5.1). */
export function isHeaderName(name: unknown): boolean {
  return typeof name === 'string' && /^[!#$%&'*+\-.^_`|~\w]+$/.test(name)
}

function noPlace(kind: string): CounterfoilError {
  return new CounterfoilError('config_invalid', `A place of producer kind '${kind}' is none.`, {
    hint: "Give a JSON Pointer such as '/data/id', or { header: 'X-Event-Id' }.",
  })
}
