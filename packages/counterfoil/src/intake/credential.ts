import type { Delivery, Verification } from './producer.ts'
import { noMatch, refused, sameText, verified } from './signature.ts'

/** Credentials that a sender shows as they are. They vouch for him, and for no byte of what he sends. */

/** Any of the expected ones, compared in constant time. */
export function checkCredential(
  given: string | null,
  what: string,
  expected: readonly string[],
): Verification {
  if (given === null) return refused('signature_missing', `${what} is missing`)
  let found = false
  for (const one of expected) found = sameText(given, one) || found
  return found ? verified : noMatch
}

/** The credential of this scheme in `Authorization` (RFC 9110 section 11.4: the scheme's name in any case), or null. */
export function authorization(delivery: Delivery, scheme: 'Bearer' | 'Basic'): string | null {
  const value = delivery.header('authorization') ?? ''
  const [, given, credential] = /^([A-Za-z]+) +([A-Za-z0-9\-._~+/]+=*)$/.exec(value) ?? []
  return credential !== undefined && given?.toLowerCase() === scheme.toLowerCase() ? credential : null
}

/** `user:password` in base64 (RFC 7617). A password may hold colons: the whole text is compared. */
export function checkBasic(delivery: Delivery, expected: readonly string[]): Verification {
  const encoded = expected.map((one) => Buffer.from(one).toString('base64'))
  return checkCredential(authorization(delivery, 'Basic'), 'Authorization: Basic', encoded)
}
