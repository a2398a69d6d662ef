import { isFaithful, isWhole } from './json-number.ts'

/** What of a JSON text no program would see as it was sent. `path` is a JSON Pointer, made safe to show and to store. */
export interface Finding {
  readonly why: string
  readonly path: string
}

export type Verdict =
  | { readonly kind: 'valid' }
  | { readonly kind: 'syntax'; readonly message: string; readonly offset: number }
  | ({ readonly kind: 'notRepresentable' } & Finding)

export interface ScanRules {
  readonly lossless: boolean
  readonly maxDepth: number
}

/** Longest path that is told, in UTF-16 units. */
const maxPath = 500

/** Longest whole number that becomes a bigint, in digits: reading one takes more than linear time. */
const maxWholeDigits = 1_000

const quote = 0x22
const comma = 0x2c
const minus = 0x2d
const point = 0x2e
const zero = 0x30
const colon = 0x3a
const openArray = 0x5b
const backslash = 0x5c
const closeArray = 0x5d
const openObject = 0x7b
const closeObject = 0x7d

/**
 * Checks every byte of a text against RFC 8259, and what it says against RFC 7493. Builds no value and does
 * not recurse: a level of nesting costs one byte. Syntax wins over everything; of what is not representable
 * the first is told. `readJson` asks it only about texts that its quick look could not clear.
 *
 * @param bytes valid UTF-8
 */
export function scanJson(bytes: Buffer, rules: ScanRules): Verdict {
  const scan = new Scan(bytes, rules)
  if (!scan.run()) return { kind: 'syntax', message: scan.message, offset: scan.at }
  return scan.finding === undefined ? { kind: 'valid' } : { kind: 'notRepresentable', ...scan.finding }
}

class Scan {
  /** Where the pass stands, in bytes; after an error, where the error is. */
  at = 0
  message = ''
  finding: Finding | undefined
  readonly #bytes: Buffer
  readonly #rules: ScanRules
  /** Per open level: the byte that opened it. */
  #openers = new Uint8Array(256)
  #depth = 0
  /** Per level up to the limit: the names seen in this object, and the member or element that the pass is in. */
  readonly #names: Set<string>[] = []
  readonly #places: (string | number)[] = []

  constructor(bytes: Buffer, rules: ScanRules) {
    this.#bytes = bytes
    this.#rules = rules
  }

  /** @returns false when the syntax is broken */
  run(): boolean {
    let valueEnded = false
    for (;;) {
      const byte = this.#next()
      if (!valueEnded) {
        if (byte === openObject || byte === openArray) {
          this.#open(byte)
          valueEnded = this.#next() === (byte === openObject ? closeObject : closeArray)
          if (valueEnded) this.#close()
          else if (byte === openObject && !this.#name()) return false
        } else {
          if (!this.#scalar(byte)) return false
          valueEnded = true
        }
        continue
      }
      if (this.#depth === 0) return byte === undefined || this.#fail('something follows the value')
      const inObject = this.#openers[this.#depth - 1] === openObject
      if (byte === comma) {
        this.at++
        valueEnded = false
        if (!inObject) this.#nextElement()
        else if (!this.#name()) return false
      } else if (byte === (inObject ? closeObject : closeArray)) {
        this.#close()
      } else {
        return this.#unexpected()
      }
    }
  }

  #open(byte: number): void {
    this.at++
    if (this.#depth === this.#openers.length) {
      const grown = new Uint8Array(this.#openers.length * 2)
      grown.set(this.#openers)
      this.#openers = grown
    }
    const { maxDepth } = this.#rules
    if (this.#depth === maxDepth) this.#find(`it is nested more than ${maxDepth} levels deep`, maxDepth)
    this.#openers[this.#depth] = byte
    if (this.#depth < maxDepth && this.finding === undefined) {
      this.#places[this.#depth] = 0
      if (byte === openObject) this.#names[this.#depth] = new Set()
    }
    this.#depth++
  }

  #close(): void {
    this.at++
    this.#depth--
  }

  #nextElement(): void {
    if (this.finding === undefined) (this.#places[this.#depth - 1] as number)++
  }

  /** A member's name and the colon after it. */
  #name(): boolean {
    if (this.#next() !== quote) return this.#unexpected()
    const begun = this.at
    // Half a surrogate pair in a name: no pointer can name the member, so its object is told.
    if (!this.#string(this.#depth - 1)) return false
    if (this.finding === undefined) {
      const raw = this.#text(begun, this.at)
      const name = raw.includes('\\') ? (JSON.parse(raw) as string) : raw.slice(1, -1)
      const names = this.#names[this.#depth - 1]!
      this.#places[this.#depth - 1] = name
      if (names.has(name)) this.#find('an object has two members of this name', this.#depth)
      names.add(name)
    }
    if (this.#next() !== colon) return this.#unexpected()
    this.at++
    return true
  }

  #scalar(byte: number | undefined): boolean {
    if (byte === quote) return this.#string(this.#depth)
    if (byte === minus || isDigit(byte)) return this.#number()
    const word = byte === 0x74 ? 'true' : byte === 0x66 ? 'false' : byte === 0x6e ? 'null' : undefined
    if (word === undefined || this.#text(this.at, this.at + word.length) !== word) return this.#unexpected()
    this.at += word.length
    return true
  }

  /** @param level how much of the path names this string, should it be found wanting */
  #string(level: number): boolean {
    const bytes = this.#bytes
    let half = false
    let halfBefore = false
    for (let at = this.at + 1; ; at++) {
      const byte = bytes[at]
      let unit = 0
      if (byte === backslash) {
        const letter = bytes[++at]
        if (letter === 0x75) {
          const digits = this.#text(at + 1, at + 5)
          if (!/^[0-9a-fA-F]{4}$/.test(digits)) {
            return this.#fail('a \\u escape lacks its four hexadecimal digits', at - 1)
          }
          unit = Number.parseInt(digits, 16)
          at += 4
        } else if (letter === undefined || !'"\\/bfnrt'.includes(String.fromCharCode(letter))) {
          return this.#fail('JSON has no such escape', at - 1)
        }
      } else if (byte === undefined) {
        return this.#fail('the text ends inside a string', at)
      } else if (byte < 0x20) {
        return this.#fail('a control character stands inside a string', at)
      }
      // The bytes are UTF-8, so only escapes can make halves, and only a low one right after a high one makes a pair.
      const low = unit >= 0xdc00 && unit <= 0xdfff
      if (low !== halfBefore) half = true
      halfBefore = unit >= 0xd800 && unit <= 0xdbff
      if (byte === quote) {
        this.at = at + 1
        if (half) this.#find('a string holds half of a surrogate pair', level)
        return true
      }
    }
  }

  #number(): boolean {
    const begun = this.at
    if (this.#bytes[this.at] === minus) this.at++
    if (this.#bytes[this.at] === zero) this.at++
    else if (!this.#digits()) return false
    if (this.#bytes[this.at] === point) {
      this.at++
      if (!this.#digits()) return false
    }
    const exponent = isExponent(this.#bytes[this.at])
    if (exponent) {
      this.at++
      if (isSign(this.#bytes[this.at])) this.at++
      if (!this.#digits()) return false
    }
    // A double carries any 15 digits (IEEE 754).
    if (this.finding !== undefined || (this.at - begun <= 15 && !exponent)) return true
    const fault = numberFault(this.#text(begun, this.at), this.#rules.lossless)
    if (fault !== undefined) this.#find(fault, this.#depth)
    return true
  }

  #digits(): boolean {
    if (!isDigit(this.#bytes[this.at])) return this.#unexpected()
    while (isDigit(this.#bytes[this.at])) this.at++
    return true
  }

  /** The byte after any white space, or undefined at the end. */
  #next(): number | undefined {
    for (;;) {
      const byte = this.#bytes[this.at]
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte
      this.at++
    }
  }

  #text(begin: number, end: number): string {
    return this.#bytes.toString('utf8', begin, end)
  }

  #find(why: string, level: number): void {
    this.finding ??= { why, path: pointer(this.#places.slice(0, level)) }
  }

  #unexpected(): false {
    return this.#fail(this.at >= this.#bytes.length ? 'the text ends too early' : 'an unexpected character')
  }

  #fail(message: string, at = this.at): false {
    this.message = message
    this.at = at
    return false
  }
}

/** @returns why a program would not see this number as it was sent, or undefined */
export function numberFault(text: string, lossless: boolean): string | undefined {
  if (lossless && isWhole(text)) {
    return text.length > maxWholeDigits ? `a whole number has more than ${maxWholeDigits} digits` : undefined
  }
  return isFaithful(text) ? undefined : 'a double would change the number'
}

function pointer(places: readonly (string | number)[]): string {
  const path = places.map((place) => `/${String(place).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
  // Control characters would forge lines, and PostgreSQL keeps no U+0000.
  return path
    .slice(0, maxPath)
    .toWellFormed()
    .replace(/\p{Cc}/gu, '\ufffd')
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= zero && byte <= 0x39
}

function isExponent(byte: number | undefined): boolean {
  return byte === 0x65 || byte === 0x45
}

function isSign(byte: number | undefined): boolean {
  return byte === minus || byte === 0x2b
}
