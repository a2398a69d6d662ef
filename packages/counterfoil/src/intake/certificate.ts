import type { KeyObject } from 'node:crypto'
import { X509Certificate } from 'node:crypto'
import type { KeySource } from './producer.ts'

/**
 * The public key of the certificate that lies at an address a delivery names. What makes it the producer's is
 * that it came over TLS from one of the kind's `keyHosts`; nobody else can put one there.
 *
 * @returns null when none lies there, or one that is no RSA certificate
 * @throws CounterfoilError `key_address_refused`, `keys_unavailable`
 */
export async function certificateKey(keys: KeySource, url: string): Promise<KeyObject | null> {
  const key = await keys.get({ url }, (body) => new X509Certificate(Buffer.from(body)).publicKey)
  return key?.asymmetricKeyType === 'rsa' ? key : null
}
