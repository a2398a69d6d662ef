import { type JsonReading, readJson } from '../domain/index.ts'
import type { Producer } from './producer.ts'

const form = 'application/x-www-form-urlencoded'

/**
 * The media type, without parameters and in lower case, when this producer sends it; else null. JSON has one
 * encoding (RFC 8259 section 8.1), so a charset other than UTF-8 is refused. No type at all is refused too,
 * unless the producer lists the empty text: a known sender states what it sends.
 */
export function acceptedType(contentTypes: readonly string[], header: string | null): string | null {
  const given = header ?? ''
  if (contentTypes.includes(given)) return given
  const [type = '', ...parameters] = given.split(';')
  const mediaType = type.trim().toLowerCase()
  if (!contentTypes.includes(mediaType)) return null
  for (const parameter of parameters) {
    const [name = '', value = ''] = parameter.trim().toLowerCase().split('=')
    if (name === 'charset' && !/^"?utf-?8"?$/.test(value)) return null
  }
  return mediaType
}

/**
 * Reads verified bytes by their media type: JSON, or a form whose one `payload` member is JSON (GitHub). The
 * member's bytes are decoded as bytes, so what is not UTF-8 is told and never replaced.
 */
export function readPayload(
  { numbers }: Pick<Producer, 'numbers'>,
  mediaType: string,
  body: Uint8Array,
): JsonReading {
  if (mediaType !== form) return readJson(body, { numbers })
  const member = formMember(body, 'payload=')
  return typeof member === 'string'
    ? { kind: 'syntax', message: member, offset: 0 }
    : readJson(member, { numbers })
}

/** The decoded value of the one member with this name (WHATWG URL, application/x-www-form-urlencoded), or what is wrong. */
function formMember(body: Uint8Array, name: string): Uint8Array | string {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  let found: Buffer | undefined
  for (let begin = 0; begin <= bytes.length; ) {
    const next = bytes.indexOf('&', begin)
    const end = next === -1 ? bytes.length : next
    if (bytes.toString('latin1', begin, Math.min(begin + name.length, end)) === name) {
      if (found !== undefined) return 'the form has two payload members'
      found = bytes.subarray(begin + name.length, end)
    }
    begin = end + 1
  }
  return found === undefined ? 'the form has no payload member' : percentDecoded(found)
}

const plus = 43
const percent = 37
const space = 32

function percentDecoded(encoded: Buffer): Uint8Array | string {
  const decoded = new Uint8Array(encoded.length)
  let length = 0
  for (let at = 0; at < encoded.length; at++) {
    let byte = encoded[at]!
    if (byte === plus) byte = space
    if (byte === percent) {
      byte = hexDigit(encoded[at + 1]) * 16 + hexDigit(encoded[at + 2])
      if (Number.isNaN(byte)) return 'the form holds a % without two hexadecimal digits'
      at += 2
    }
    decoded[length++] = byte
  }
  return decoded.subarray(0, length)
}

function hexDigit(code = 0): number {
  if (code >= 48 && code <= 57) return code - 48
  const lower = code | 32
  return lower >= 97 && lower <= 102 ? lower - 87 : Number.NaN
}
