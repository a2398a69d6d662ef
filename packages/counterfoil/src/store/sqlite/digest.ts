import type { DeliveryDigest, Fingerprint } from '../../domain/index.ts'

/** Digests are kept as bytes: half the size of their text, in rows and in indexes. */

const kinds = ['', 'jcs-sha256:', 'raw-sha256:'] as const

export function fingerprintToBytes(fingerprint: Fingerprint): Uint8Array {
  const kind = fingerprint.startsWith(kinds[1]) ? 1 : 2
  const bytes = Buffer.allocUnsafe(33)
  bytes[0] = kind
  bytes.write(fingerprint.slice(kinds[kind].length), 1, 'hex')
  return bytes
}

export function fingerprintFromBytes(bytes: Uint8Array): Fingerprint {
  const kind = kinds[bytes[0] as 1 | 2]
  return `${kind}${Buffer.from(bytes.buffer, bytes.byteOffset + 1, 32).toString('hex')}` as Fingerprint
}

const deliveryPrefix = 'del-sha256:'

export function deliveryToBytes(delivery: DeliveryDigest): Uint8Array {
  return Buffer.from(delivery.slice(deliveryPrefix.length), 'hex')
}

export function deliveryFromBytes(bytes: Uint8Array): DeliveryDigest {
  return `${deliveryPrefix}${Buffer.from(bytes.buffer, bytes.byteOffset, 32).toString('hex')}` as DeliveryDigest
}
