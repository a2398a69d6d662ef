import { createHmac, createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { CounterfoilError } from '../../domain/index.ts'

/** One signature over the signed text, as it stands in `webhook-signature`: `v1,…` or `v1a,…`. */
export type Signer = (signed: Uint8Array) => string

/** Receivers look at so many signatures, and no more are needed to replace one secret by another. */
export const maxSecrets = 8

/**
 * Secrets as Standard Webhooks writes them: `whsec_` and base64 of 24 to 64 bytes for HMAC-SHA256 (v1), `whsk_` and
 * base64 of an ed25519 private key (v1a), its seed alone or followed by its public half.
 *
 * @throws CounterfoilError `config_invalid`, without a word of the secret
 */
export function signersOf(secrets: readonly string[]): readonly Signer[] {
  if (secrets.length < 1 || secrets.length > maxSecrets) throw refused(`has ${secrets.length} secrets`)
  return secrets.map(signerOf)
}

/** `webhook-signature`: one for each secret, so that a receiver may hold the old or the new one. */
export function signatureHeader(
  signers: readonly Signer[],
  about: { readonly id: string; readonly seconds: number; readonly body: Uint8Array },
): string {
  const signed = Buffer.concat([Buffer.from(`${about.id}.${about.seconds}.`), about.body])
  return signers.map((one) => one(signed)).join(' ')
}

function signerOf(secret: string): Signer {
  const [, kind, text = ''] = /^(whsec_|whsk_)([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? []
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text) throw refused('has a secret that is not base64')
  if (kind === 'whsec_' && bytes.length >= 24 && bytes.length <= 64) {
    return (signed) => `v1,${createHmac('sha256', bytes).update(signed).digest('base64')}`
  }
  if (kind === 'whsk_' && (bytes.length === 32 || bytes.length === 64)) {
    const key = ed25519(bytes.subarray(0, 32))
    return (signed) => `v1a,${sign(null, signed, key).toString('base64')}`
  }
  throw refused('has a secret that is none')
}

/** RFC 8410 section 7: the seed behind the header of a PKCS #8 key. */
function ed25519(seed: Uint8Array): KeyObject {
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
}

function refused(what: string): CounterfoilError {
  return new CounterfoilError('config_invalid', `A webhook endpoint ${what}.`, {
    hint: `Give 1 to ${maxSecrets} secrets: whsec_ and base64 of 24 to 64 bytes, or whsk_ and an ed25519 private key.`,
  })
}
