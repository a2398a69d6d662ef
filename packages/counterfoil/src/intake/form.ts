import type { JsonReading } from '../domain/index.ts'

/** Forms as WHATWG URL has them (application/x-www-form-urlencoded), over bytes. */

/** Fields of one form; more come from no honest sender. */
export const maxFields = 10_000

/** The decoded value of the one member with this name: its bytes, null when there is none, or what is wrong. */
export function formMember(body: Uint8Array, name: string): Uint8Array | string | null {
  const bytes = toBuffer(body)
  const wanted = `${name}=`
  let found: Buffer | undefined
  for (const [begin, end] of pairs(bytes)) {
    if (bytes.toString('latin1', begin, Math.min(begin + wanted.length, end)) !== wanted) continue
    if (found !== undefined) return `the form has two ${name} members`
    found = bytes.subarray(begin + wanted.length, end)
  }
  return found === undefined ? null : percentDecoded(found)
}

/** All fields as an object of texts; of a name that is repeated, an array in the order of the form. */
export function formFields(body: Uint8Array): JsonReading {
  const bytes = toBuffer(body)
  const fields = new Fields()
  for (const [begin, end] of pairs(bytes)) {
    if (begin === end) continue
    const equals = bytes.indexOf(equalsSign, begin)
    const split = equals === -1 || equals > end ? end : equals
    const name = text(bytes.subarray(begin, split))
    const value = text(bytes.subarray(Math.min(split + 1, end), end))
    if (typeof name !== 'string') return fault(name.wrong, begin)
    if (typeof value !== 'string') return fault(value.wrong, split)
    if (!fields.add(name, value)) return fault(`the form has more than ${maxFields} fields`, begin)
  }
  return fields.reading()
}

/** Fields as they come, whatever they are called: `__proto__` is a name like any other. */
export class Fields<Value extends string | { readonly [name: string]: string }> {
  readonly #values = new Map<string, Value | Value[]>()
  #count = 0

  /** @returns false when there are too many */
  add(name: string, value: Value): boolean {
    const known = this.#values.get(name)
    if (known === undefined) this.#values.set(name, value)
    else if (Array.isArray(known)) known.push(value)
    else this.#values.set(name, [known, value])
    return ++this.#count <= maxFields
  }

  reading(): JsonReading {
    return { kind: 'read', value: Object.fromEntries(this.#values) }
  }
}

function fault(message: string, offset: number): JsonReading {
  return { kind: 'syntax', message, offset }
}

function toBuffer(body: Uint8Array): Buffer {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength)
}

const ampersand = 38
const equalsSign = 61

function* pairs(bytes: Buffer): Generator<[begin: number, end: number]> {
  for (let begin = 0; begin <= bytes.length; ) {
    const next = bytes.indexOf(ampersand, begin)
    const end = next === -1 ? bytes.length : next
    yield [begin, end]
    begin = end + 1
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function text(encoded: Buffer): string | { readonly wrong: string } {
  const bytes = percentDecoded(encoded)
  if (typeof bytes === 'string') return { wrong: bytes }
  try {
    return utf8.decode(bytes)
  } catch {
    return { wrong: 'the form holds what is not UTF-8' }
  }
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
