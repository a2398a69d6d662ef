import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { CounterfoilError } from '../domain/index.ts'

/** Where bodies lie that are too large for the ledger. */
export interface BodyStore {
  /**
   * Gives the bytes under a key, from the first one on; what it throws means that they cannot be read now.
   *
   * @param about.signal aborted when nobody reads on
   */
  open(
    key: string,
    about: { readonly signal: AbortSignal },
  ): AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array>>
  /**
   * What lies under a key never changes, and is not seen before it is whole. An attempt then reads it once; otherwise
   * twice, and sends nothing when the first reading finds other bytes. Default false.
   */
  readonly immutable?: boolean
}

/**
 * Bodies as files under a directory, named by their path in it: `2026/scan-7.pdf`.
 *
 * @example
 * const archive = recipient('archive', { url, contract, bodies: { files: fileBodies('/var/lib/scans') } })
 */
export function fileBodies(directory: string): BodyStore {
  return {
    open(key, { signal }) {
      // Names that begin with a dot are not asked for: `..` would leave the directory.
      if (!/^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/.test(key))
        throw new CounterfoilError('body_unreadable', 'The key of a body is no path of a file.', {
          hint: 'Use letters, digits, . _ - and slashes between names that do not begin with a dot.',
        })
      return createReadStream(join(directory, key), { signal, highWaterMark: chunkBytes })
    },
  }
}

const chunkBytes = 262_144
