import { type Contract, CounterfoilError } from '../domain/index.ts'
import type { BodyStore } from './body-store.ts'

/** Bytes that lie elsewhere and go out as the body of an effect's request: where they lie, and what they must be. */
export interface BodyReference<Stores extends string = string> {
  /** One of the recipient's `bodies`. */
  readonly store: Stores
  /** What the store knows them by. 1 to 1024 characters. */
  readonly key: string
  /** In bytes, from 1. */
  readonly length: number
  /** Of all the bytes, as 64 lower-case hexadecimal digits. */
  readonly sha256: string
  /** The `content-type`, unless the request's headers have one. Default `application/octet-stream`. */
  readonly mediaType?: string
}

/** Longest key in a store of bodies, in UTF-16 units. */
export const maxBodyKeyLength = 1_024

/**
 * What is stored of a reference. Adds the content type to `headers` where none is given.
 *
 * @throws CounterfoilError `body_store_unknown`; `effect_payload_invalid` for a reference that is none;
 *   `config_invalid` where the contract puts the key into the body
 */
export function checkReference(
  { store, key, length, sha256, mediaType = 'application/octet-stream' }: BodyReference,
  headers: Map<string, string>,
  about: { readonly contract?: Contract; readonly bodies?: Readonly<Record<string, BodyStore>> } = {},
): BodyReference {
  storeNamed(about.bodies, store)
  if (about.contract?.idempotency?.pointer !== undefined) {
    throw new CounterfoilError(
      'config_invalid',
      'A body by reference has no place for the idempotency key.',
      {
        hint: 'The contract puts the key into the body: give the body itself.',
      },
    )
  }
  const isKey =
    typeof key === 'string' &&
    key.length > 0 &&
    key.length <= maxBodyKeyLength &&
    key.isWellFormed() &&
    !/\p{Cc}/u.test(key)
  if (!isKey) refuse(`has no key of 1 to ${maxBodyKeyLength} characters`)
  if (!Number.isSafeInteger(length) || length < 1) refuse('has no length of 1 byte or more')
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256))
    refuse('has no SHA-256 in hexadecimal digits')
  if (!headers.has('content-type')) {
    if (typeof mediaType !== 'string' || !/^[\x21-\x7e]+\/[\x20-\x7e]+$/.test(mediaType))
      refuse('has no media type')
    headers.set('content-type', mediaType)
  }
  return { store, key, length, sha256 }
}

/** @throws CounterfoilError `body_store_unknown` */
export function storeNamed(bodies: Readonly<Record<string, BodyStore>> | undefined, name: string): BodyStore {
  const store = bodies !== undefined && Object.hasOwn(bodies, name) ? bodies[name] : undefined
  if (store !== undefined) return store
  throw new CounterfoilError(
    'body_store_unknown',
    `The recipient has no store of bodies '${String(name).slice(0, 100)}'.`,
    {
      hint: "Name it in the recipient's bodies: they are needed for as long as an effect may be repeated.",
    },
  )
}

function refuse(how: string): never {
  throw new CounterfoilError('effect_payload_invalid', `The reference to the body of an effect ${how}.`)
}
