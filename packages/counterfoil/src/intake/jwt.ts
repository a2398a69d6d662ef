import { decodeProtectedHeader, errors, type JWK, type JWTPayload, jwtVerify } from 'jose'
import type { Instant } from '../domain/index.ts'
import type { KeySource, Verification } from './producer.ts'
import { refused } from './signature.ts'

/** JSON Web Tokens (RFC 7519) as proof of who sends. */

export interface JwtRules {
  /** The only ones that count; never what the token alone asks for (RFC 8725 section 3.1). */
  readonly algorithms: readonly string[]
  readonly issuers?: readonly string[]
  readonly audience?: string
  /** Oldest `iat`, in seconds; then there must be one. Default: `exp` alone ends a token. */
  readonly maxAgeSeconds?: number
}

/** How far the sender's clock may be ahead of ours. For the end of a token there is no such grace. */
const aheadSeconds = 60

export type JwtVerdict = { readonly kind: 'claims'; readonly claims: JWTPayload } | Refused
type Refused = Extract<Verification, { kind: 'refused' }>

/**
 * @param keyOf the key of this name, or null; what it throws is passed on
 * @param now by the clock port
 */
export async function verifyJwt(
  token: string | null,
  keyOf: (kid: string) => Promise<JWK | null>,
  now: Instant,
  rules: JwtRules,
): Promise<JwtVerdict> {
  if (token === null) return refuse('signature_missing', 'the token is missing')
  const kid = kidOf(token)
  if (kid === undefined) return refuse('signature_invalid', 'the token is none, or names no key')
  const key = await keyOf(kid)
  if (key === null) return refuse('signature_invalid', 'nobody knows the key that the token names')
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: [...rules.algorithms],
      currentDate: new Date(now),
      clockTolerance: aheadSeconds,
      ...(rules.issuers === undefined ? {} : { issuer: [...rules.issuers] }),
      ...(rules.audience === undefined ? {} : { audience: rules.audience }),
    })
    const isFresh = isCurrent(payload, now / 1000, rules.maxAgeSeconds)
    return isFresh ? { kind: 'claims', claims: payload } : tooOld(payload)
  } catch (error) {
    if (error instanceof errors.JWTExpired) return tooOld(error.payload)
    if (error instanceof errors.JWTClaimValidationFailed) {
      return refuse('signature_invalid', `the token's claim ${error.claim} is not the one that is asked for`)
    }
    return refuse('signature_invalid', 'the token is not signed by its key')
  }
}

/** @param now in seconds */
function isCurrent({ iat, exp }: JWTPayload, now: number, maxAgeSeconds: number | undefined): boolean {
  if (exp !== undefined && exp <= now) return false
  if (iat === undefined) return maxAgeSeconds === undefined
  return iat <= now + aheadSeconds && now - iat <= (maxAgeSeconds ?? Number.POSITIVE_INFINITY)
}

/** The key of this name in a JSON Web Key Set (RFC 7517). An unknown name asks once more: keys are replaced. */
export async function jwksKey(keys: KeySource, url: string, kid: string): Promise<JWK | null> {
  const found = named(await keys.get({ url }, readJwks), kid)
  return found ?? named(await keys.get({ url }, readJwks, { again: true }), kid)
}

function readJwks(body: Uint8Array): readonly JWK[] {
  const { keys } = JSON.parse(Buffer.from(body).toString()) as { keys: JWK[] }
  return keys.filter((key) => typeof key.kid === 'string')
}

function named(keys: readonly JWK[] | null, kid: string): JWK | null {
  return keys?.find((key) => key.kid === kid) ?? null
}

function kidOf(token: string): string | undefined {
  try {
    return decodeProtectedHeader(token).kid
  } catch {
    return undefined
  }
}

function tooOld({ iat }: JWTPayload): Refused {
  const told = refuse('timestamp_stale', 'the token is too old, or from the future')
  return iat === undefined ? told : { ...told, signedAt: iat * 1000 }
}

function refuse(code: Refused['code'], why: string): Refused {
  return refused(code, why) as Refused
}
