import { type Clock, CounterfoilError, type ErrorCode } from '../domain/index.ts'

export type BodyReading =
  | { readonly kind: 'read'; readonly body: Uint8Array }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly why: string }

export interface BodyLimits {
  /** Largest body in bytes. */
  readonly maxBytes: number
  /** From the first byte read to the last. */
  readonly maxReadMs: number
}

const empty = new Uint8Array(0)
/** First room for a body of several chunks, in bytes. */
const firstRoom = 16_384

/**
 * Reads a body within its limits. Never reads further than one chunk past the limit: a stated length over it is
 * refused before the first byte, an unstated one when it is passed, and the rest is not pulled. A compressed
 * body is refused: the signature covers the bytes as they were sent, and what they unpack to has no limit.
 *
 * @throws CounterfoilError `internal` when somebody else has read the body before
 */
export async function readBody(request: Request, limits: BodyLimits, clock: Clock): Promise<BodyReading> {
  const { maxBytes, maxReadMs } = limits
  const encoding = request.headers.get('content-encoding')
  if (encoding !== null && encoding.trim().toLowerCase() !== 'identity') {
    return { kind: 'refused', code: 'content_encoding_unsupported', why: 'the body is compressed' }
  }
  const stated = statedLength(request.headers.get('content-length'))
  // The body is left alone: taking hold of it would cost more than refusing it.
  if (stated !== null && stated > maxBytes) return tooLarge(maxBytes)
  const stream = request.body
  if (request.bodyUsed || stream?.locked) {
    throw new CounterfoilError('internal', 'The body was read before the delivery came here.', {
      hint: 'Hand over the Request as it came, before any body parser: the signature covers its raw bytes.',
    })
  }
  if (stream === null) return { kind: 'read', body: empty }

  const reader: ReadableStreamDefaultReader<Uint8Array> = stream.getReader()
  let late = false
  const cancelTimer = clock.after(maxReadMs, () => {
    late = true
    letGo(reader)
  })
  try {
    const body = await readChunks(reader, maxBytes)
    if (late) return tooSlow(maxReadMs)
    if (body === null) return tooLarge(maxBytes)
    return stated !== null && body.byteLength < stated ? broken : { kind: 'read', body }
  } catch {
    return late ? tooSlow(maxReadMs) : broken
  } finally {
    cancelTimer()
  }
}

/** @returns null when the limit was passed */
async function readChunks(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array | null> {
  let read: Uint8Array = empty
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    // One chunk is the usual case, and is not copied.
    if (done) return read.byteLength === length ? read : read.subarray(0, length)
    if (!(value instanceof Uint8Array)) throw new TypeError('a body is made of bytes')
    const end = length + value.byteLength
    if (end > maxBytes) {
      letGo(reader)
      return null
    }
    if (length === 0) {
      read = value
    } else {
      // Copied at once: a million tiny chunks cost their bytes and not a million objects.
      read = withRoom(read, length, end, maxBytes)
      read.set(value, length)
    }
    length = end
  }
}

/** @param wanted at most `maxBytes` */
function withRoom(bytes: Uint8Array, length: number, wanted: number, maxBytes: number): Uint8Array {
  // A chunk is full by itself, so what its sender may still hold is never written to.
  if (bytes.byteLength >= wanted) return bytes
  const doubled = Math.min(maxBytes, Math.max(firstRoom, bytes.byteLength * 2))
  const larger = new Uint8Array(Math.max(wanted, doubled))
  larger.set(bytes.subarray(0, length))
  return larger
}

/** Not waited for: a source that never finishes its cancelling must not hold the answer. */
function letGo(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  reader.cancel().catch(() => {})
}

/** Null when there is none or it is not a plain number; then the stream itself is counted. */
function statedLength(header: string | null): number | null {
  return header !== null && /^\d{1,15}$/.test(header) ? Number(header) : null
}

const broken: BodyReading = {
  kind: 'refused',
  code: 'body_broken',
  why: 'the body ended before it was complete',
}

function tooLarge(maxBytes: number): BodyReading {
  return { kind: 'refused', code: 'body_too_large', why: `the body is larger than ${maxBytes} bytes` }
}

function tooSlow(maxReadMs: number): BodyReading {
  return { kind: 'refused', code: 'body_too_slow', why: `the body took longer than ${maxReadMs} ms` }
}
