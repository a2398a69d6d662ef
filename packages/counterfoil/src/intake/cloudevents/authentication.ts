import { CounterfoilError, type Instant } from '../../domain/index.ts'
import { authorization, checkBasic, checkCredential } from '../credential.ts'
import type { Delivery } from '../delivery.ts'
import type { Verification } from '../producer-kind.ts'
import { hmacKey, refused, secretsOf, toleranceOf, verified } from '../signature.ts'
import { verifySignature } from './signing.ts'

/** Who may send. Exactly one of these: the specification leaves it open, so there is no default. */
export interface CloudEventsAuthentication {
  /** HMAC of our own, which covers attributes and data: see `signCloudEvent`. */
  readonly secrets?: string | readonly string[]
  /** Bearer tokens (CloudEvents webhooks, section 3), in `Authorization` or the query's `access_token`. */
  readonly tokens?: string | readonly string[]
  /** `user:password` each, for HTTP basic authentication. */
  readonly credentials?: string | readonly string[]
  /** Whoever reaches this endpoint may send: only behind something that keeps others out. */
  readonly anyone?: true
  /** How far the signed time may be from now, in both directions, with `secrets`. Default 300. */
  readonly toleranceSeconds?: number
}

export interface Authentication {
  /** Whether identity and type are covered. */
  readonly signed: boolean
  readonly verify: (delivery: Delivery, now: Instant) => Verification
}

/** @throws CounterfoilError `config_invalid` unless exactly one is given, with a secret that is one */
export function authenticationOf(given: CloudEventsAuthentication): Authentication {
  const ways = [given.secrets, given.tokens, given.credentials, given.anyone].filter(
    (one) => one !== undefined,
  )
  if (ways.length !== 1) {
    throw new CounterfoilError(
      'config_invalid',
      `A CloudEvents producer has ${ways.length} ways to authenticate its sender.`,
      { hint: 'Give exactly one of secrets, tokens, credentials, or anyone: true.' },
    )
  }
  if (given.secrets !== undefined) {
    const keys = secretsOf('CloudEvents', given.secrets).map(hmacKey)
    const tolerance = toleranceOf('CloudEvents', given.toleranceSeconds)
    return { signed: true, verify: (delivery, now) => verifySignature(delivery, now, keys, tolerance) }
  }
  if (given.tokens !== undefined) {
    const tokens = secretsOf('CloudEvents', given.tokens)
    return { signed: false, verify: (delivery) => checkBearer(delivery, tokens) }
  }
  if (given.credentials !== undefined) {
    const credentials = secretsOf('CloudEvents', given.credentials)
    return { signed: false, verify: (delivery) => checkBasic(delivery, credentials) }
  }
  return { signed: false, verify: () => verified }
}

/** RFC 6750 section 2: a request with both is none. */
function checkBearer(delivery: Delivery, tokens: readonly string[]): Verification {
  const inQuery = delivery.query('access_token')
  if (delivery.header('authorization') === null) return checkCredential(inQuery, 'the access token', tokens)
  if (inQuery !== null) return refused('signature_invalid', 'there are two access tokens')
  return checkCredential(authorization(delivery, 'Bearer'), 'Authorization: Bearer', tokens)
}
