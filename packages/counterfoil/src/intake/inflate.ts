import { brotliDecompress, gunzip, inflate as inflateZlib, type ZlibOptions } from 'node:zlib'
import { type BodyReading, refused, tooLarge } from './body-limits.ts'

type Inflate = (
  body: Uint8Array,
  options: ZlibOptions,
  callback: (error: NodeJS.ErrnoException | null, inflated: Uint8Array) => void,
) => void

/** Content codings of RFC 9110 section 8.4.1 that are undone. */
const codings: ReadonlyMap<string, Inflate> = new Map<string, Inflate>([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', inflateZlib],
  ['br', brotliDecompress],
])

/** @param header of `Content-Encoding`; one coding at most, as no sender uses two */
export function isKnownCoding(header: string | null): boolean {
  return header === null || isIdentity(header) || codings.has(header.trim().toLowerCase())
}

function isIdentity(header: string): boolean {
  const coding = header.trim().toLowerCase()
  return coding === '' || coding === 'identity'
}

/**
 * The content that a body stands for, which is what the sender signed: a coding belongs to the way, and a proxy
 * may put it on. Inflated piece by piece, and given up as soon as it passes the limit, so a small body that
 * stands for gigabytes costs no more than a large one.
 *
 * @param header of `Content-Encoding`, a known coding
 */
export function inflate(
  header: string | null,
  body: Uint8Array,
  maxBytes: number,
): BodyReading | Promise<BodyReading> {
  if (header === null || isIdentity(header)) return { kind: 'read', body }
  const undo = codings.get(header.trim().toLowerCase())!
  return new Promise((resolve) => {
    undo(body, { maxOutputLength: maxBytes }, (error, inflated) => {
      if (error === null) resolve({ kind: 'read', body: inflated })
      else if (error.code === 'ERR_BUFFER_TOO_LARGE') resolve(tooLarge(maxBytes))
      else resolve(refused('body_broken', 'the body is not compressed as it says'))
    })
  })
}
