import type { Clock } from '../domain/index.ts'
import {
  alreadyRead,
  type BodyLimits,
  type BodyReading,
  broken,
  Gathering,
  statedBody,
  tooLarge,
  tooSlow,
} from './body-limits.ts'

/**
 * Reads the body of a Fetch request within its limits. Never reads further than one chunk past the limit, and
 * the rest is not pulled.
 *
 * @throws CounterfoilError `body_already_read` when somebody else has read the body before
 */
export async function readBody(request: Request, limits: BodyLimits, clock: Clock): Promise<BodyReading> {
  const { headers } = request
  const stated = statedBody((name) => headers.get(name), limits)
  // The body is left alone: taking hold of it would cost more than refusing it.
  if (stated.refusal !== null) return stated.refusal
  const stream = request.body
  if (request.bodyUsed || stream?.locked) throw alreadyRead()
  const gathering = new Gathering(limits.maxBytes)
  if (stream === null) return gathering.end(stated.length)

  const reader: ReadableStreamDefaultReader<Uint8Array> = stream.getReader()
  let late = false
  const cancelTimer = clock.after(limits.maxReadMs, () => {
    late = true
    letGo(reader)
  })
  try {
    const fits = await readChunks(reader, gathering)
    if (late) return tooSlow(limits.maxReadMs)
    return fits ? gathering.end(stated.length) : tooLarge(limits.maxBytes)
  } catch {
    return late ? tooSlow(limits.maxReadMs) : broken
  } finally {
    cancelTimer()
  }
}

/** @returns false when the limit was passed */
async function readChunks(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  gathering: Gathering,
): Promise<boolean> {
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return true
    if (!(value instanceof Uint8Array)) throw new TypeError('a body is made of bytes')
    if (gathering.add(value)) continue
    letGo(reader)
    return false
  }
}

/** Not waited for: a source that never finishes its cancelling must not hold the answer. */
function letGo(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  reader.cancel().catch(() => {})
}
