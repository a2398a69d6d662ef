import { assert, type DeliveryDigest, type Fingerprint } from '../domain/index.ts'

/** Digests are kept as bytes: half the size of their text, in rows and in indexes. */

/** A fingerprint's first byte says what was digested. */
const kinds = ['', 'jcs-sha256:', 'raw-sha256:'] as const
const deliveryPrefix = 'del-sha256:'
/** Prefix and 64 hexadecimal digits. */
const textLength = deliveryPrefix.length + 64

export const deliveryBytes = 32
export const fingerprintBytes = 33

/** @throws CounterfoilError `internal`: what is not a digest never reaches a row */
export function writeFingerprint(fingerprint: Fingerprint, into: Buffer, at: number): void {
  const kind = fingerprint.startsWith(kinds[1]) ? 1 : fingerprint.startsWith(kinds[2]) ? 2 : 0
  into[at] = kind
  const written = into.write(fingerprint.slice(deliveryPrefix.length), at + 1, 32, 'hex')
  assert(
    kind !== 0 && written === 32 && fingerprint.length === textLength,
    `not a fingerprint: ${fingerprint}`,
  )
}

/** The first byte of a fingerprint with this prefix. */
export function kindByte(prefix: string): number {
  return kinds.indexOf(prefix as (typeof kinds)[number])
}

export function fingerprintToBytes(fingerprint: Fingerprint): Uint8Array {
  const bytes = Buffer.allocUnsafe(fingerprintBytes)
  writeFingerprint(fingerprint, bytes, 0)
  return bytes
}

export function fingerprintFromBytes(bytes: Uint8Array): Fingerprint {
  const kind = kinds[bytes[0] as 1 | 2]
  return `${kind}${Buffer.from(bytes.buffer, bytes.byteOffset + 1, 32).toString('hex')}` as Fingerprint
}

/** @throws CounterfoilError `internal` */
export function writeDelivery(delivery: DeliveryDigest, into: Buffer, at: number): void {
  const written = into.write(delivery.slice(deliveryPrefix.length), at, 32, 'hex')
  const whole = written === 32 && delivery.length === textLength && delivery.startsWith(deliveryPrefix)
  assert(whole, `not a delivery digest: ${delivery}`)
}

export function deliveryFromBytes(bytes: Uint8Array): DeliveryDigest {
  return `${deliveryPrefix}${Buffer.from(bytes.buffer, bytes.byteOffset, 32).toString('hex')}` as DeliveryDigest
}
