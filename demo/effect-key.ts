/** A part of an effect key. Nullish: the payload does not say. */
export type KeyPart = string | number | null | undefined

const maxLength = 512

/**
 * Names one operation by what it is about, such as `github/octo/shop/issues/7/opened`. Where the payload lacks
 * a part, the fingerprint of the whole content stands in: then the same content is the same operation, and any
 * other content is another one.
 */
export function semanticKey(parts: readonly KeyPart[], fingerprint: string): string {
  const known = parts.filter(isKnown)
  const content = `content-${fingerprint.slice(fingerprint.indexOf(':') + 1).slice(0, 32)}`
  const key = known.map(segment).join('/')
  if (key.length > maxLength) return `${key.slice(0, 400).toWellFormed()}/${content}`
  return known.length === parts.length ? key : `${key}/${content}`
}

function isKnown(part: KeyPart): part is string | number {
  return part !== null && part !== undefined && part !== ''
}

/** A part keeps its characters, except for those that would make another key of it or break a line. */
function segment(part: string | number): string {
  return String(part).replace(/[\s/%\p{C}]/gu, encodeURIComponent)
}
