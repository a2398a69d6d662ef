import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { BackfillItem, ReadOptions } from './item.ts'

const newline = 0x0a
/** What is looked through in one turn of the event loop: a millisecond's work, as deliveries come in between. */
const portionBytes = 64 * 1024
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

/**
 * The lines of a JSONL or NDJSON file that are not blank, in memory one portion at a time, however long the file or
 * a line is.
 *
 * @throws what the file system throws
 */
export async function* readLines(
  path: string,
  { from, maxBytes }: ReadOptions,
): AsyncGenerator<BackfillItem> {
  let at = from.at
  let before = from.before
  let line = new Line(maxBytes)
  const end = (next: number): BackfillItem | null => {
    before++
    at = next
    const { bytes, digest, isBlank } = line.end(before === 1)
    line = new Line(maxBytes)
    return isBlank ? null : { place: `line ${before}`, bytes, digest, next: { at, before } }
  }
  let read = from.at
  for await (const chunk of createReadStream(path, { start: from.at, highWaterMark: portionBytes })) {
    const portion = chunk as Buffer
    let begin = 0
    for (;;) {
      const found = portion.indexOf(newline, begin)
      if (found === -1) break
      line.add(portion.subarray(begin, found))
      begin = found + 1
      const item = end(read + begin)
      if (item !== null) yield item
    }
    line.add(portion.subarray(begin))
    read += portion.length
  }
  if (line.isEmpty) return
  const item = end(read)
  if (item !== null) yield item
}

/** The bytes of one line as they come. */
class Line {
  readonly #maxBytes: number
  readonly #parts: Buffer[] = []
  #length = 0
  /** Of a line that is too long to be kept. */
  #digest: ReturnType<typeof createHash> | undefined

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get isEmpty(): boolean {
    return this.#length === 0
  }

  add(bytes: Buffer): void {
    if (bytes.length === 0) return
    this.#length += bytes.length
    if (this.#length > this.#maxBytes && this.#digest === undefined) {
      this.#digest = createHash('sha256')
      for (const part of this.#parts.splice(0)) this.#digest.update(part)
    }
    if (this.#digest === undefined) this.#parts.push(bytes)
    else this.#digest.update(bytes)
  }

  end(isFirst: boolean): {
    readonly bytes: Uint8Array | null
    readonly digest: Uint8Array
    readonly isBlank: boolean
  } {
    if (this.#digest !== undefined) return { bytes: null, digest: this.#digest.digest(), isBlank: false }
    const whole = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts)
    const bytes = trimmed(isFirst && whole.indexOf(byteOrderMark) === 0 ? whole.subarray(3) : whole)
    const digest = createHash('sha256').update(bytes).digest()
    return { bytes, digest, isBlank: bytes.length === 0 }
  }
}

/** Without the white space of JSON around it (RFC 8259 section 2), which is not part of the event. */
function trimmed(bytes: Buffer): Buffer {
  let begin = 0
  let end = bytes.length
  while (begin < end && isSpace(bytes[begin]!)) begin++
  while (end > begin && isSpace(bytes[end - 1]!)) end--
  return bytes.subarray(begin, end)
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d
}
