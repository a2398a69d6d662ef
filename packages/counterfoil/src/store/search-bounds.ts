import { kindByte } from './digest.ts'

/** The newest receipts, and the newest effects, that a search by fingerprint looks at. */
export const fingerprintReach = 10_000

/** Names that begin with a text, as a range of an index in the order of bytes. */
export function beginningWith(text: string): readonly [first: string, last: string] {
  return [text, `${text}\u{10ffff}`]
}

/**
 * Fingerprints that a text may mean: whole, without its kind, or the first 8 digits of it at least.
 *
 * @returns ranges of the bytes that are kept, one a kind; null when the text is no fingerprint
 */
export function fingerprintRanges(text: string): readonly (readonly [Uint8Array, Uint8Array])[] | null {
  const [, kind, digits] = /^(?:(jcs-sha256:|raw-sha256:))?([0-9a-f]{8,64})$/.exec(text) ?? []
  if (digits === undefined) return null
  const kinds = kind === undefined ? ['jcs-sha256:', 'raw-sha256:'] : [kind]
  return kinds.map((one) => {
    const bytes = (filler: string) =>
      Uint8Array.of(kindByte(one), ...Buffer.from(digits.padEnd(64, filler), 'hex'))
    return [bytes('0'), bytes('f')]
  })
}
