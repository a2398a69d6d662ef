import { type Clock, type CounterfoilError, codeOf, type Instant } from '../domain/index.ts'
import type { Arrival } from './arrival.ts'
import { ArrivedDelivery, type Delivery } from './delivery.ts'
import { inflate, isKnownCoding } from './inflate.ts'
import type { KeySource } from './key-source.ts'
import { acceptedType } from './payload.ts'
import type { Producer } from './producer.ts'
import type { Verification } from './producer-kind.ts'
import { type Refusal, refuse } from './refusal.ts'

/** Raw bytes that their producer's verifier has vouched for; nothing of them is parsed. */
export interface Authentic {
  readonly kind: 'authentic'
  readonly delivery: Delivery
  readonly mediaType: string
  readonly receivedAt: Instant
}

/**
 * Limits, then verification of the raw bytes (design.md section 3, Intake).
 *
 * @param freshness `waived`: only for what an operator approved. Everything else is checked as it was when the
 *   delivery was signed.
 * @throws whatever is our own fault
 */
export async function authenticate(
  producer: Producer,
  keys: KeySource,
  clock: Clock,
  arrival: Arrival,
  freshness: 'checked' | 'waived' = 'checked',
): Promise<Authentic | Refusal> {
  const { contentTypes } = producer.kind
  const coding = arrival.header('content-encoding')
  if (!isKnownCoding(coding)) {
    return refuse('content_encoding_unsupported', 'of content codings gzip, deflate and br are understood')
  }
  const mediaType = acceptedType(contentTypes, arrival.header('content-type'))
  if (mediaType === null) {
    return refuse('content_type_unsupported', `this producer sends ${contentTypes.join(' or ')}`)
  }
  const wire = await arrival.readBody(producer, clock)
  if (wire.kind === 'refused') return wire
  const read = coding === null ? wire : await inflate(coding, wire.body, producer.maxBytes)
  if (read.kind === 'refused') return read
  const delivery = new ArrivedDelivery(arrival, producer.publicUrl, read.body)
  const receivedAt = clock.now()
  // Nothing is awaited that is there already: most kinds have their keys, and most payloads are JSON.
  const verifying = verify(producer, delivery, receivedAt, keys)
  const first = verifying instanceof Promise ? await verifying : verifying
  const verification =
    first.kind === 'refused' && freshness === 'waived' && first.signedAt !== undefined
      ? await verify(producer, delivery, first.signedAt, keys)
      : first
  return verification.kind === 'refused'
    ? verification
    : { kind: 'authentic', delivery, mediaType, receivedAt }
}

export function verify(
  producer: Producer,
  delivery: Delivery,
  now: Instant,
  keys: KeySource,
): Verification | Promise<Verification> {
  const verification = producer.kind.verify(delivery, now, keys)
  return verification instanceof Promise ? verification.catch(refusedAddress) : verification
}

/** The address is the sender's choice; anything else that goes wrong is our own fault. */
function refusedAddress(error: unknown): Verification {
  if (codeOf(error) !== 'key_address_refused') throw error
  return refuse('key_address_refused', (error as CounterfoilError).message)
}
