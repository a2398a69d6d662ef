import { isUtf8 } from 'node:buffer'
import { isFaithful } from './json-number.ts'

/** What a JSON text can mean here. `bigint` only where a producer declared its numbers lossless. */
export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue }

export type JsonReading =
  | { readonly kind: 'read'; readonly value: JsonValue }
  | { readonly kind: 'syntax'; readonly message: string; readonly offset: number }
  /** Valid JSON that a program would not see as it was sent. `path` is a JSON Pointer. */
  | { readonly kind: 'notRepresentable'; readonly why: string; readonly path: string }

export interface JsonOptions {
  /** `lossless`: whole numbers beyond 2^53 - 1 become bigint. */
  readonly numbers: 'double' | 'lossless'
  /** Default 128. */
  readonly maxDepth?: number
}

export const defaultMaxDepth = 128

/**
 * Reads JSON strictly (RFC 8259, and RFC 7493 for what a program can carry): every byte is checked before
 * any value is built, so neither depth nor size costs more than the text itself. Syntax errors win over
 * everything; of what is not representable the first is told.
 */
export function readJson(bytes: Uint8Array, options: JsonOptions): JsonReading {
  if (!isUtf8(bytes)) return { kind: 'syntax', message: 'the text is not UTF-8', offset: 0 }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  const scan = new Scan(text, options.numbers === 'lossless', options.maxDepth ?? defaultMaxDepth)
  const broken = scan.run()
  if (broken !== undefined) return { kind: 'syntax', message: broken, offset: scan.at }
  if (scan.finding !== undefined) return { kind: 'notRepresentable', ...scan.finding }
  return { kind: 'read', value: scan.hasBig ? withBigs(text) : (JSON.parse(text) as JsonValue) }
}

/** Whole numbers that a double would change, as bigint. */
function withBigs(text: string): JsonValue {
  const reviver = (_: string, value: unknown, context: { source?: string }) =>
    typeof value === 'number' &&
    !Number.isSafeInteger(value) &&
    context.source !== undefined &&
    /^-?\d+$/.test(context.source)
      ? BigInt(context.source)
      : value
  return (JSON.parse as (text: string, reviver: unknown) => JsonValue)(text, reviver)
}

const quote = 34
const backslash = 92
const comma = 44
const colon = 58
const openObject = 123
const closeObject = 125
const openArray = 91
const closeArray = 93

/** One pass over the text, without recursion: the stack is one byte a level. */
class Scan {
  /** Where the pass stands; after an error, where the error is. */
  at = 0
  finding: { readonly why: string; readonly path: string } | undefined
  hasBig = false
  readonly #text: string
  readonly #lossless: boolean
  readonly #maxDepth: number
  #kinds = new Uint8Array(256)
  #depth = 0
  /** Per level up to the limit: the names seen in this object, and the place for the path. */
  readonly #names: Set<string>[] = []
  readonly #places: (string | number)[] = []

  constructor(text: string, lossless: boolean, maxDepth: number) {
    this.#text = text
    this.#lossless = lossless
    this.#maxDepth = maxDepth
  }

  /** @returns what is wrong, or undefined */
  run(): string | undefined {
    let wantsValue = true
    for (;;) {
      this.#space()
      const code = this.#text.charCodeAt(this.at)
      if (wantsValue) {
        if (code === openObject || code === openArray) {
          this.#push(code)
          this.#space()
          const next = this.#text.charCodeAt(this.at)
          if (code === openArray ? next === closeArray : next === closeObject) {
            this.at++
            this.#depth--
            wantsValue = false
            continue
          }
          if (code === openObject) {
            const wrong = this.#name()
            if (wrong !== undefined) return wrong
          }
          continue
        }
        const wrong = this.#scalar(code)
        if (wrong !== undefined) return wrong
        wantsValue = false
        continue
      }
      if (this.#depth === 0) return this.at === this.#text.length ? undefined : 'something follows the value'
      const kind = this.#kinds[this.#depth - 1]
      if (code === comma) {
        this.at++
        if (kind === openObject) {
          this.#space()
          const wrong = this.#name()
          if (wrong !== undefined) return wrong
        } else if (this.#depth <= this.#maxDepth) {
          this.#places[this.#depth - 1] = (this.#places[this.#depth - 1] as number) + 1
        }
        wantsValue = true
        continue
      }
      if (code !== (kind === openObject ? closeObject : closeArray)) return this.#unexpected()
      this.at++
      this.#depth--
    }
  }

  #push(code: number): void {
    this.at++
    if (this.#depth === this.#kinds.length) {
      const grown = new Uint8Array(this.#kinds.length * 2)
      grown.set(this.#kinds)
      this.#kinds = grown
    }
    this.#kinds[this.#depth] = code
    if (this.#depth < this.#maxDepth) {
      this.#places[this.#depth] = code === openArray ? 0 : ''
      if (code === openObject) {
        this.#names[this.#depth] ??= new Set()
        this.#names[this.#depth]!.clear()
      }
    } else if (this.#depth === this.#maxDepth) {
      this.#find(`it is nested more than ${this.#maxDepth} levels deep`)
    }
    this.#depth++
  }

  #name(): string | undefined {
    if (this.#text.charCodeAt(this.at) !== quote) return this.#unexpected()
    const begun = this.at
    const wrong = this.#string()
    if (wrong !== undefined) return wrong
    if (this.#depth <= this.#maxDepth && this.finding === undefined) {
      const raw = this.#text.slice(begun + 1, this.at - 1)
      const name = raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw
      const names = this.#names[this.#depth - 1]!
      this.#places[this.#depth - 1] = name
      if (names.has(name)) this.#find('an object has two members of this name')
      names.add(name)
    }
    this.#space()
    if (this.#text.charCodeAt(this.at) !== colon) return this.#unexpected()
    this.at++
    return undefined
  }

  #scalar(code: number): string | undefined {
    if (code === quote) return this.#string()
    if (code === 45 || (code >= 48 && code <= 57)) return this.#number()
    for (const word of ['true', 'false', 'null']) {
      if (this.#text.startsWith(word, this.at)) {
        this.at += word.length
        return undefined
      }
    }
    return this.#unexpected()
  }

  #string(): string | undefined {
    const text = this.#text
    const begun = this.at
    let escapes = false
    for (let at = begun + 1; ; at++) {
      const code = text.charCodeAt(at)
      if (code === quote) {
        this.at = at + 1
        break
      }
      if (code === backslash) {
        escapes = true
        const next = text[at + 1] ?? ''
        if (next === 'u') {
          if (!/^[0-9a-fA-F]{4}$/.test(text.slice(at + 2, at + 6)))
            return this.#wrong(at, 'a \\u escape without four hexadecimal digits')
          at += 5
        } else if ('"\\/bfnrt'.includes(next) && next !== '') {
          at++
        } else {
          return this.#wrong(at, 'an escape that JSON does not have')
        }
      } else if (!(code >= 32)) {
        return this.#wrong(
          at,
          at >= text.length ? 'the text ends inside a string' : 'a control character inside a string',
        )
      }
    }
    if (escapes && this.finding === undefined) {
      const raw = text.slice(begun, this.at)
      if (/\\u[dD][89abAB-fC-F]/.test(raw) && !(JSON.parse(raw) as string).isWellFormed())
        this.#find('a string holds half of a surrogate pair')
    }
    return undefined
  }

  #number(): string | undefined {
    const begun = this.at
    const text = this.#text
    numberPattern.lastIndex = begun
    const match = numberPattern.exec(text)
    if (match === null) return this.#unexpected()
    const [digits, fraction] = match
    this.at = begun + digits.length
    if (digits.length <= 15 && fraction === undefined) return undefined
    if (this.finding === undefined && !isFaithful(digits)) {
      if (this.#lossless && fraction === undefined) this.hasBig = true
      else this.#find(`a double cannot carry the number ${digits.slice(0, 40)}`)
    }
    return undefined
  }

  #space(): void {
    const text = this.#text
    for (;;) {
      const code = text.charCodeAt(this.at)
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return
      this.at++
    }
  }

  #find(why: string): void {
    if (this.finding !== undefined) return
    const places = this.#places.slice(0, Math.min(this.#depth, this.#maxDepth))
    const path = places
      .map((place) => `/${String(place).replaceAll('~', '~0').replaceAll('/', '~1')}`)
      .join('')
    this.finding = { why, path: path.slice(0, 500) }
  }

  #unexpected(): string {
    return this.at >= this.#text.length ? 'the text ends too early' : 'an unexpected character'
  }

  #wrong(at: number, message: string): string {
    this.at = at
    return message
  }
}

/** Group 1: the fraction and exponent, when there is one. */
const numberPattern = /-?(?:0|[1-9]\d*)(\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+)?/y
