import { hash } from 'node:crypto'
import { assert } from './errors.ts'
import type { DeliveryDigest } from './ids.ts'

/** "Is this the same event?" CloudEvents' source and id, inside the verified namespace (design.md section 2). */
export interface DeliveryIdentity {
  readonly namespace: string
  readonly source: string
  readonly id: string
}

/** Longest part of an identity, in UTF-16 units. */
export const maxIdentityPart = 512

/**
 * Whether a text from a producer can be part of an identity. A control character would forge log lines, and
 * half of a surrogate pair would become another text when stored.
 *
 * @returns why not, to follow the name of the part (`The id is empty`), or undefined
 */
export function checkIdentityPart(part: unknown): string | undefined {
  if (typeof part !== 'string') return 'is not text'
  if (part === '') return 'is empty'
  if (part.length > maxIdentityPart) return `is longer than ${maxIdentityPart} characters`
  if (/\p{Cc}/u.test(part)) return 'holds a control character'
  if (!part.isWellFormed()) return 'holds half of a surrogate pair'
  return undefined
}

/**
 * `del-sha256:HEX`, one for each identity: see `encodeParts`.
 *
 * @throws CounterfoilError `internal` on parts that `checkIdentityPart` refuses as ill-formed
 */
export function deliveryDigest({ namespace, source, id }: DeliveryIdentity): DeliveryDigest {
  return `del-sha256:${hash('sha256', encodeParts([namespace, source, id]))}` as DeliveryDigest
}

/**
 * Texts in one, each after its length in UTF-16 units: `2:ab` + `1:c`. No two lists of as many texts have the
 * same encoding, whatever they hold, as long as each is well-formed; one that is not would be changed by UTF-8.
 */
export function encodeParts(parts: readonly string[]): string {
  let encoded = ''
  for (const part of parts) {
    assert(part.isWellFormed(), 'a part of an identity holds half of a surrogate pair')
    encoded += `${part.length}:${part}`
  }
  return encoded
}
