import { type JsonReading, readJson } from '../domain/index.ts'
import { formFields, formMember } from './form.ts'
import { readMultipart } from './multipart.ts'
import type { Producer } from './producer.ts'

const form = 'application/x-www-form-urlencoded'
const multipart = 'multipart/form-data'

/**
 * The media type, without parameters and in lower case, when this producer sends it; else null. JSON has one
 * encoding (RFC 8259 section 8.1), so a charset other than UTF-8 is refused. No type at all is refused too,
 * unless the producer lists the empty text: a known sender states what it sends. Of a multipart form the
 * boundary stays: without it nobody reads the form again.
 */
export function acceptedType(contentTypes: readonly string[], header: string | null): string | null {
  const given = header ?? ''
  if (given !== multipart && contentTypes.includes(given)) return given
  const [type = '', ...parameters] = given.split(';')
  const mediaType = type.trim().toLowerCase()
  if (!contentTypes.includes(mediaType)) {
    // Any type: what its text is encoded in is for those who read it.
    if (!contentTypes.includes('*/*') || !isMediaType.test(mediaType)) return null
    return mediaType === multipart ? withBoundary(parameters) : mediaType
  }
  for (const parameter of parameters) {
    const [name = '', value = ''] = parameter.trim().toLowerCase().split('=')
    if (name === 'charset' && !/^"?utf-?8"?$/.test(value)) return null
  }
  return mediaType === multipart ? withBoundary(parameters) : mediaType
}

/** RFC 6838 section 4.2. */
const isMediaType = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/

function withBoundary(parameters: readonly string[]): string | null {
  for (const parameter of parameters) {
    // RFC 2046 section 5.1.1: 1 to 70 characters of these; a quoted one holds no quote.
    const [, boundary] = /^\s*boundary="?([\w'()+,./:=?-]{1,70})"?\s*$/i.exec(parameter) ?? []
    if (boundary !== undefined) return `${multipart}; boundary="${boundary}"`
  }
  return null
}

/**
 * Reads verified bytes by their media type: JSON, a form, or a multipart form (a promise). Bytes are decoded as
 * bytes, so what is not UTF-8 is told and never replaced.
 */
export function readPayload(
  { numbers, kind }: Pick<Producer, 'numbers' | 'kind'>,
  mediaType: string,
  body: Uint8Array,
): JsonReading | Promise<JsonReading> {
  if (mediaType === form) return readForm(numbers, kind.form ?? 'payload', body)
  if (mediaType.startsWith(multipart)) return readMultipart(mediaType, body)
  return readJson(body, { numbers })
}

function readForm(
  numbers: Producer['numbers'],
  holds: 'payload' | 'fields' | 'either',
  body: Uint8Array,
): JsonReading {
  if (holds === 'fields') return formFields(body)
  const member = formMember(body, 'payload')
  if (member === null) {
    return holds === 'either' ? formFields(body) : syntax('the form has no payload member')
  }
  return typeof member === 'string' ? syntax(member) : readJson(member, { numbers })
}

function syntax(message: string): JsonReading {
  return { kind: 'syntax', message, offset: 0 }
}
