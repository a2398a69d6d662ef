import { hash } from 'node:crypto'
import { canonicalize } from './canonical.ts'
import type { Fingerprint } from './ids.ts'
import type { JsonValue } from './json.ts'

/** Of the canonical JSON: equal for payloads that differ only in spelling. `volatile` members stay out. */
export function fingerprintJson(
  value: JsonValue,
  about: { readonly volatile?: readonly string[] } = {},
): Fingerprint {
  return `jcs-sha256:${hash('sha256', canonicalize(value, about.volatile))}` as Fingerprint
}

/** Of the bytes as they came. */
export function fingerprintBytes(bytes: Uint8Array): Fingerprint {
  return `raw-sha256:${hash('sha256', bytes)}` as Fingerprint
}
