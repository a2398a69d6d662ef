import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { CounterfoilError } from '../domain/index.ts'

/** Public keys that are configured, and signatures under them. */

/**
 * @param read the key, or undefined where the text is none
 * @param form what a key looks like, to follow `is not`
 * @throws CounterfoilError `config_invalid` when there is none, or one is none
 */
export function publicKeysOf(
  kind: string,
  keys: string | readonly string[],
  form: string,
  read: (text: string) => KeyObject | undefined,
): readonly KeyObject[] {
  const list = typeof keys === 'string' ? [keys] : Array.isArray(keys) ? keys : []
  const found = list.map((text) => (typeof text === 'string' ? read(text) : undefined))
  if (found.length > 0 && found.every((key) => key !== undefined)) return found
  throw new CounterfoilError('config_invalid', `A public key of a ${kind} producer is not ${form}.`, {
    hint: 'Copy it whole from the producer’s page; without a key anybody could send.',
  })
}

/** Of the 32 bytes alone (RFC 8032 section 5.1.5); undefined for another length. */
export function ed25519Key(raw: Buffer | undefined): KeyObject | undefined {
  if (raw?.length !== 32) return undefined
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') }, format: 'jwk' })
}

/** SPKI, as base64 of its DER or as PEM; undefined when it is neither, or of another type than asked for. */
export function spkiKey(text: string, type: KeyObject['asymmetricKeyType']): KeyObject | undefined {
  try {
    const key = text.startsWith('-----BEGIN')
      ? createPublicKey(text)
      : createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' })
    return key.asymmetricKeyType === type ? key : undefined
  } catch {
    return undefined
  }
}

/**
 * @param digest `null` for Ed25519, which has its own
 */
export function isSignedBy(
  keys: readonly KeyObject[],
  digest: 'sha256' | 'sha1' | null,
  signed: readonly (Uint8Array | string)[],
  signature: Uint8Array | undefined,
): boolean {
  if (signature === undefined) return false
  const bytes = Buffer.concat(
    signed.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)),
  )
  return keys.some((key) => verify(digest, bytes, key, signature))
}
