import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import { CounterfoilError } from '../domain/index.ts'

/** What a marker keeps of a receipt or an effect. */
export interface Marker {
  /** Of the identity. */
  readonly digest: Uint8Array
  /** Of the content, for this identity alone: equal contents of two identities do not look alike. */
  readonly content: Uint8Array
}

/** Half of SHA-256, the least that RFC 2104 section 5 recommends: no two of 10^12 identities meet. */
export const markerBytes = 16

/**
 * Makes markers: HMAC-SHA-256 (RFC 2104) under a key of the store. Without the key nobody can tell, by trying, which
 * events or payloads they stand for.
 */
export class Marking {
  readonly #key: KeyObject

  constructor(key: Uint8Array) {
    this.#key = createSecretKey(key)
  }

  /** @param delivery digest of the delivery identity */
  receipt(delivery: Uint8Array, fingerprint: Uint8Array): Marker {
    return this.#marker(this.#mac('receipt', delivery), fingerprint)
  }

  effect(recipient: string, key: string, fingerprint: Uint8Array): Marker {
    return this.#marker(
      this.#mac('effect', Buffer.from(`${recipient.length}:${recipient}${key}`)),
      fingerprint,
    )
  }

  #marker(digest: Uint8Array, fingerprint: Uint8Array): Marker {
    return { digest, content: this.#mac('content', digest, fingerprint) }
  }

  #mac(purpose: string, ...parts: readonly Uint8Array[]): Uint8Array {
    const mac = createHmac('sha256', this.#key).update(`${purpose}\0`)
    for (const part of parts) mac.update(part)
    return new Uint8Array(mac.digest().subarray(0, markerBytes))
  }
}

export function sameContent(kept: Uint8Array, given: Marker): boolean {
  return timingSafeEqual(kept, given.content)
}

export function markerKeyMissing(location: string): CounterfoilError {
  return new CounterfoilError(
    'marker_key_missing',
    `The store ${location} holds markers of what was forgotten, and was opened without the vault.`,
    { hint: 'Open it with start(), or give open() the vault.' },
  )
}
