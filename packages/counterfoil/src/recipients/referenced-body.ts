import { createHash } from 'node:crypto'
import { CounterfoilError } from '../domain/index.ts'
import type { BodyReference } from './body-reference.ts'
import type { BodyStore } from './body-store.ts'
import { nameOf } from './error-name.ts'

/** Reads all of a body and keeps nothing of it. @throws CounterfoilError as `referencedBody` */
export async function readThrough(
  reference: BodyReference,
  store: BodyStore,
  signal: AbortSignal,
): Promise<void> {
  for await (const _ of referencedBody(reference, store, signal));
}

/**
 * The bytes that a reference stands for, chunk by chunk. The last one is held back until length and digest agree:
 * whoever sends what comes out of here never sends other bytes as a whole body.
 *
 * @throws CounterfoilError `body_unreadable`, `body_changed`
 */
export async function* referencedBody(
  { store: name, length, sha256, key }: BodyReference,
  store: BodyStore,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const digest = createHash('sha256')
  let read = 0
  let held: Uint8Array | undefined
  for await (const chunk of chunksOf(name, store, key, signal)) {
    read += chunk.byteLength
    if (read > length) throw changed(name, `is longer than the ${length} bytes that were planned`)
    // A copy: a store may read into one buffer again and again, and what was digested must be what is sent.
    const own = new Uint8Array(chunk)
    digest.update(own)
    if (held !== undefined) yield held
    held = own
  }
  if (read < length) throw changed(name, `ended after ${read} of ${length} bytes`)
  if (digest.digest('hex') !== sha256) throw changed(name, 'has another SHA-256 than was planned')
  if (held !== undefined) yield held
}

/** Of the errors of a store only names are told: a message may quote an address with its credentials. */
async function* chunksOf(
  name: string,
  store: BodyStore,
  key: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  try {
    for await (const chunk of await store.open(key, { signal })) {
      if (!(chunk instanceof Uint8Array)) throw new TypeError('a body is made of bytes')
      if (chunk.byteLength > 0) yield chunk
    }
  } catch (error) {
    if (error instanceof CounterfoilError) throw error
    throw new CounterfoilError(
      'body_unreadable',
      `The store of bodies '${name}' failed with ${nameOf(error)}.`,
      {
        hint: 'The effect is attempted again by its contract: see that the store can be read.',
      },
    )
  }
}

function changed(name: string, how: string): CounterfoilError {
  return new CounterfoilError('body_changed', `A body in the store '${name}' ${how}.`, {
    hint: 'An effect sends the bytes that it was planned with: put them back, or plan a new revision.',
  })
}
