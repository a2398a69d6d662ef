import { CounterfoilError, type ErrorCode } from '../domain/index.ts'

export type BodyReading =
  | { readonly kind: 'read'; readonly body: Uint8Array }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly why: string }

export interface BodyLimits {
  /** Largest body in bytes. */
  readonly maxBytes: number
  /** From the first byte read to the last. */
  readonly maxReadMs: number
}

/** What the headers promise of a body. */
export interface StatedBody {
  /** In bytes; null when nothing plain is stated, and then only the stream itself is counted. */
  readonly length: number | null
  /** Refused before the first byte. */
  readonly refusal: BodyReading | null
}

/** A stated length over the limit is refused without a look at the body. What a compressed one stands for is limited apart. */
export function statedBody(header: (name: string) => string | null, { maxBytes }: BodyLimits): StatedBody {
  const stated = header('content-length')
  const length = stated !== null && /^\d{1,15}$/.test(stated) ? Number(stated) : null
  return { length, refusal: length !== null && length > maxBytes ? tooLarge(maxBytes) : null }
}

/** First room for a body of several chunks, in bytes. */
const firstRoom = 16_384

/** The chunks of a body as they come, up to the limit. A million tiny ones cost their bytes and not a million objects. */
export class Gathering {
  readonly #maxBytes: number
  #bytes: Uint8Array = new Uint8Array(0)
  #length = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** @returns false when the chunk would pass the limit; it was not kept */
  add(chunk: Uint8Array): boolean {
    const end = this.#length + chunk.byteLength
    if (end > this.#maxBytes) return false
    // One chunk is the usual case, and is not copied. It is full by itself, so what its sender may still hold
    // is never written to.
    if (this.#length === 0) this.#bytes = chunk
    else this.#append(chunk, end)
    this.#length = end
    return true
  }

  /** @param stated a body that ends before its stated length was torn */
  end(stated: number | null): BodyReading {
    if (stated !== null && this.#length < stated) return broken
    const whole = this.#bytes.byteLength === this.#length
    return { kind: 'read', body: whole ? this.#bytes : this.#bytes.subarray(0, this.#length) }
  }

  #append(chunk: Uint8Array, end: number): void {
    if (this.#bytes.byteLength < end) {
      const doubled = Math.min(this.#maxBytes, Math.max(firstRoom, this.#bytes.byteLength * 2))
      const larger = new Uint8Array(Math.max(end, doubled))
      larger.set(this.#bytes.subarray(0, this.#length))
      this.#bytes = larger
    }
    this.#bytes.set(chunk, this.#length)
  }
}

export const broken: BodyReading = refused('body_broken', 'the body ended before it was complete')

export function tooLarge(maxBytes: number): BodyReading {
  return refused('body_too_large', `the body is larger than ${maxBytes} bytes`)
}

export function tooSlow(maxReadMs: number): BodyReading {
  return refused('body_too_slow', `the body took longer than ${maxReadMs} ms`)
}

/** Somebody else has read it, and what he made of it is not what was signed. */
export function alreadyRead(): CounterfoilError {
  return new CounterfoilError(
    'body_already_read',
    'A body parser has read the body before the delivery came here, and its raw bytes are gone.',
    { hint: 'Place the receiver before any body parser: the signature covers the raw bytes.' },
  )
}

export function refused(code: ErrorCode, why: string): BodyReading {
  return { kind: 'refused', code, why }
}
