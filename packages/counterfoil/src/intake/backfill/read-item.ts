import { canonicalize, type JsonValue, readJson } from '../../domain/index.ts'
import type { BackfillSource } from '../../store/index.ts'
import { authenticate } from '../authenticate.ts'
import { ArrivedDelivery } from '../delivery.ts'
import type { Gate } from '../gate.ts'
import { type Interpretation, type Interpreted, type InterpretPorts, interpret } from '../interpret.ts'
import type { Producer } from '../producer.ts'
import type { BackfillItem } from './item.ts'
import { readStoredRequest, unsignedArrival } from './stored-request.ts'

export type ReadItem =
  | { readonly kind: 'events'; readonly events: readonly Interpreted[] }
  | { readonly kind: 'fault'; readonly figure: 'malformed' | 'refused'; readonly why: string }

/** An item of a backfill by the way of a delivery: its events, or why there is none. */
export async function readItem(
  ports: InterpretPorts,
  gate: Gate,
  about: { readonly source: BackfillSource['kind']; readonly origin: string },
  item: BackfillItem,
): Promise<ReadItem> {
  if (item.bytes === null) return fault('malformed', 'it is larger than its producer sends')
  const read =
    about.source === 'requests'
      ? await readRequest(ports, gate, about.origin, item.bytes)
      : await readEvent(ports, gate.producer, about.origin, item.bytes)
  switch (read.kind) {
    case 'fault':
      return read
    case 'refused':
      return fault(read.code === 'syntax_invalid' ? 'malformed' : 'refused', read.why)
    case 'handshake':
      return fault('refused', 'it is a handshake and brings no event')
    case 'event':
      return { kind: 'events', events: [read.event] }
    case 'events':
      return read
  }
}

type Read = Interpretation | Extract<ReadItem, { kind: 'fault' }>

/** Its signature is checked as of the time when it was made: an operator's approval stands for its age alone. */
async function readRequest(
  ports: InterpretPorts,
  gate: Gate,
  origin: string,
  bytes: Uint8Array,
): Promise<Read> {
  const { producer, keys } = gate
  const stored = readStoredRequest(bytes)
  if (stored.kind === 'malformed') return fault('malformed', stored.why)
  if (stored.arrival.method !== 'POST') return fault('refused', 'deliveries are sent with POST')
  const authentic = await authenticate(producer, keys, ports.clock, stored.arrival, 'waived')
  if (authentic.kind === 'refused') return authentic
  const { delivery, mediaType, receivedAt } = authentic
  return await interpret(ports, producer, delivery, { mediaType, receivedAt, origin, waived: 'freshness' })
}

/** Nobody signed it: an operator's approval stands for that. */
async function readEvent(
  ports: InterpretPorts,
  producer: Producer,
  origin: string,
  bytes: Uint8Array,
): Promise<Read> {
  const { headers, body } = unwrapped(bytes, producer)
  if (body.length > producer.maxBytes) return fault('malformed', 'it is larger than its producer sends')
  const mediaType = jsonTypeOf(producer)
  const arrival = unsignedArrival(new Map([['content-type', mediaType], ...headers]), body)
  const about = { mediaType, receivedAt: ports.clock.now(), origin, waived: 'signature' } as const
  return await interpret(ports, producer, new ArrivedDelivery(arrival, producer.publicUrl, body), about)
}

/** What a trigger's payload is kept as, where it is JSON. */
function jsonTypeOf({ kind }: Producer): string {
  return kind.keptAs ?? kind.contentTypes.find((type) => /[/+]json$/.test(type)) ?? 'application/json'
}

interface Unwrapped {
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Uint8Array
}

/**
 * An object of `headers` and `payload` and nothing else stands for a delivery with these headers: some producers put
 * id and type there. Anything else is the payload itself.
 */
function unwrapped(bytes: Uint8Array, { numbers }: Producer): Unwrapped {
  const asItIs = { headers: [], body: bytes }
  // Cheap, and nearly always the end of it.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (text.indexOf('"headers"') === -1 || text.indexOf('"payload"') === -1) return asItIs
  const reading = readJson(bytes, { numbers })
  if (reading.kind !== 'read' || !isObject(reading.value)) return asItIs
  const { headers, payload, ...more } = reading.value
  if (!isObject(headers) || payload === undefined || Object.keys(more).length > 0) return asItIs
  const texts = Object.entries(headers).filter(
    (pair): pair is [string, string] => typeof pair[1] === 'string',
  )
  return {
    headers: texts.map(([name, value]) => [name.toLowerCase(), value]),
    body: Buffer.from(canonicalize(payload)),
  }
}

function isObject(value: JsonValue | undefined): value is { readonly [name: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function fault(figure: 'malformed' | 'refused', why: string): Extract<ReadItem, { kind: 'fault' }> {
  return { kind: 'fault', figure, why }
}
