import { isUtf8 } from 'node:buffer'
import { canonicalize, type JsonReading, type JsonValue, readJson } from '../../domain/index.ts'
import type { Delivery } from '../delivery.ts'
import { type CloudEvent, isJson } from './cloud-event.ts'
import { decodeHeaderValue, encodeHeaderValue } from './header-value.ts'

/** How events travel in HTTP messages: CloudEvents 1.0.2, HTTP binding section 3. */

export const structuredType = 'application/cloudevents+json'
export const batchType = 'application/cloudevents-batch+json'

/**
 * Puts a binary-mode message together to an object of the JSON event format. Data that its content type calls
 * JSON is read as JSON, text stays text, and anything else becomes `data_base64`.
 */
export function readBinary(
  delivery: Pick<Delivery, 'header' | 'headers' | 'body'>,
  numbers: 'double' | 'lossless',
): JsonReading {
  const members: [string, JsonValue][] = []
  for (const [header, value] of delivery.headers()) {
    if (!header.startsWith('ce-')) continue
    const name = header.slice(3)
    const text = decodeHeaderValue(value)
    if (text === undefined) return syntax('a ce- header does not decode to UTF-8')
    if (name === 'datacontenttype' || name === 'data' || name === 'data_base64') {
      return syntax('a ce- header stands for what is no header')
    }
    members.push([name, text])
  }
  const contentType = delivery.header('content-type') ?? ''
  if (contentType !== '') members.push(['datacontenttype', contentType])
  const data = readData(contentType, delivery.body, numbers)
  if ('kind' in data) return data
  return { kind: 'read', value: { ...Object.fromEntries(members), ...data } }
}

type Data = { readonly data?: JsonValue; readonly data_base64?: string }

function readData(contentType: string, body: Uint8Array, numbers: 'double' | 'lossless'): Data | JsonReading {
  if (body.byteLength === 0) return {}
  if (isJson(contentType)) {
    const reading = readJson(body, { numbers })
    if (reading.kind === 'notRepresentable') return { ...reading, path: `/data${reading.path}` }
    return reading.kind === 'read' ? { data: reading.value } : reading
  }
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const isText = textual.test(contentType) && !otherCharset.test(contentType) && isUtf8(bytes)
  return isText ? { data: bytes.toString('utf8') } : { data_base64: bytes.toString('base64') }
}

const textual = /^(?:text\/|application\/(?:.+\+)?xml\b)/i
const otherCharset = /;\s*charset=(?!"?utf-?8"?\s*(?:;|$))/i

function syntax(message: string): JsonReading {
  return { kind: 'syntax', message, offset: 0 }
}

/** An HTTP message that holds events. */
export interface CloudEventMessage {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** In binary mode: attributes in headers, data as the body. */
export function binaryMessage(event: CloudEvent): CloudEventMessage {
  const { data, data_base64: base64, datacontenttype, ...attributes } = event
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(attributes))
    headers[`ce-${name}`] = encodeHeaderValue(String(value))
  const contentType = datacontenttype ?? (base64 === undefined ? 'application/json' : undefined)
  if (contentType !== undefined) headers['content-type'] = contentType
  return { headers, body: bytesOf(data, base64, contentType) }
}

function bytesOf(
  data: JsonValue | undefined,
  base64: string | undefined,
  contentType = 'application/octet-stream',
): Uint8Array {
  if (base64 !== undefined) return Buffer.from(base64, 'base64')
  if (data === undefined) return new Uint8Array(0)
  return Buffer.from(typeof data === 'string' && !isJson(contentType) ? data : canonicalize(data))
}

/** In structured mode: the whole event is the body. */
export function structuredMessage(event: CloudEvent): CloudEventMessage {
  return message(structuredType, event)
}

/** In batched mode: many events are the body. */
export function batchMessage(events: readonly CloudEvent[]): CloudEventMessage {
  return message(batchType, events)
}

function message(contentType: string, value: JsonValue): CloudEventMessage {
  return {
    headers: { 'content-type': `${contentType}; charset=utf-8` },
    body: Buffer.from(canonicalize(value)),
  }
}
