import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { BackfillItem, ReadOptions } from './item.ts'

/**
 * The files of a directory and of those in it, in the order of their names: one request each, as it came over the
 * wire. Names of one directory at a time are in memory. Names that begin with a dot are passed over.
 *
 * @throws what the file system throws
 */
export async function* readRequests(
  directory: string,
  { from, maxBytes }: ReadOptions,
): AsyncGenerator<BackfillItem> {
  let count = 0
  for await (const path of filesOf(directory)) {
    if (count++ < from.at) continue
    const { size } = await stat(path)
    const bytes = size > maxBytes ? null : await readFile(path)
    const digest = bytes === null ? await digestOf(path) : createHash('sha256').update(bytes).digest()
    const place = `request ${relative(directory, path)}`
    yield { place, bytes, digest, next: { at: count, before: count } }
  }
}

async function* filesOf(directory: string): AsyncGenerator<string> {
  const entries = await readdir(directory, { withFileTypes: true })
  const named = entries.filter(({ name }) => !name.startsWith('.'))
  // By code units: the same order on every machine.
  for (const entry of named.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) yield* filesOf(path)
    else yield path
  }
}

async function digestOf(path: string): Promise<Uint8Array> {
  const digest = createHash('sha256')
  for await (const portion of createReadStream(path)) digest.update(portion as Buffer)
  return digest.digest()
}
