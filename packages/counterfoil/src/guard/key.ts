import { hash } from 'node:crypto'
import { encodeParts } from '../domain/index.ts'

/** Longest key in characters; Stripe's own limit, so that clients made for it fit. */
export const maxKeyLength = 255

/**
 * The key in a header field: a String of RFC 8941 section 3.3.3, as the draft asks (`"8e03978e…"`), or the bare
 * text that most clients send. Both forms of one text are one key. Visible ASCII only; a bare key holds neither
 * quotes nor a comma, which is what two header fields in one would have.
 *
 * @returns undefined when it is no key
 */
export function parseKey(field: string): string | undefined {
  const text = field.trim()
  const key = text.startsWith('"') ? unquote(text) : text.replace(/[",\\]/, ' ')
  return key !== undefined && /^[\x21-\x7e]+$/.test(key) && key.length <= maxKeyLength ? key : undefined
}

function unquote(text: string): string | undefined {
  const inside = /^"((?:[^"\\]|\\["\\])*)"$/.exec(text)?.[1]
  return inside?.replaceAll(/\\(["\\])/g, '$1')
}

/** Names a key, or a fence domain, of one caller: those of two callers never meet. 32 bytes. */
export function scopedId(kind: 'key' | 'domain', caller: string, name: string): Uint8Array {
  return hash('sha256', encodeParts([kind, caller, name]), 'buffer')
}
