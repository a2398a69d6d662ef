import { hash } from 'node:crypto'
import { canonicalize } from './canonical.ts'
import type { Fingerprint } from './ids.ts'
import type { JsonValue } from './json.ts'

/**
 * `jcs-sha256:HEX`, of the canonical JSON (RFC 8785): equal for payloads that differ only in spelling, such as
 * the order of members.
 *
 * @param about.volatile JSON Pointers of members that stay out, because the producer changes them from one
 *   delivery of an event to the next
 * @throws CounterfoilError `internal` on what JSON cannot hold, see `canonicalize`
 */
export function fingerprintJson(
  value: JsonValue,
  about: { readonly volatile?: readonly string[] } = {},
): Fingerprint {
  return `jcs-sha256:${hash('sha256', canonicalize(value, about.volatile))}` as Fingerprint
}

/** `raw-sha256:HEX`, of the bytes as they came. Kept beside the canonical one in any case. */
export function fingerprintBytes(bytes: Uint8Array): Fingerprint {
  return `raw-sha256:${hash('sha256', bytes)}` as Fingerprint
}
