import { hash } from 'node:crypto'
import type { DeliveryDigest } from './ids.ts'

/** "Is this the same event?" CloudEvents' source and id, inside the verified namespace (design.md section 2). */
export interface DeliveryIdentity {
  readonly namespace: string
  readonly source: string
  readonly id: string
}

/** Longest part of an identity, in UTF-16 units. */
export const maxIdentityPart = 512

/** @returns why this cannot be part of an identity, or undefined */
export function checkIdentityPart(part: string): string | undefined {
  if (part === '') return 'is empty'
  if (part.length > maxIdentityPart) return `is longer than ${maxIdentityPart} characters`
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\u0000-\u001f\u007f-\u009f]/.test(part)) return 'holds a control character'
  if (!part.isWellFormed()) return 'holds half of a surrogate pair'
  return undefined
}

/** Parts are preceded by their length, so that no two identities share an encoding. */
export function deliveryDigest({ namespace, source, id }: DeliveryIdentity): DeliveryDigest {
  const encoded = `${namespace.length}:${namespace}${source.length}:${source}${id.length}:${id}`
  return `del-sha256:${hash('sha256', encoded)}` as DeliveryDigest
}
