import { createCipheriv, createDecipheriv } from 'node:crypto'
import { assert, CounterfoilError, type Random } from '../domain/index.ts'
import type { KeyRing } from './key-ring.ts'
import type { Sealed } from './records.ts'

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16
/** Without a fixed length a tag that was cut to four bytes would be taken for one. */
const options = { authTagLength: tagBytes } as const

/**
 * Seals payloads with AES-256-GCM (NIST SP 800-38D). Each is bound to the record it belongs to: a payload that
 * is moved to another record does not open.
 *
 * Nonces are random, so one key seals at most 2^32 payloads (section 8.3 there): put a new key first before.
 */
export class Vault {
  readonly #ring: KeyRing
  readonly #random: Random

  constructor(ring: KeyRing, random: Random) {
    this.#ring = ring
    this.#random = random
  }

  /** Name of the key that seals now. */
  get primary(): string {
    return this.#ring.primary
  }

  /** A new key of 32 random bytes. */
  newKey(): Uint8Array {
    return new Uint8Array(this.#random.bytes(32))
  }

  /** @param record id of the receipt or effect that the payload belongs to */
  seal(payload: Uint8Array, record: string): Sealed {
    const keyId = this.#ring.primary
    // A copy: with pooled random bytes the whole pool would be sent to the store's thread.
    const nonce = new Uint8Array(this.#random.bytes(nonceBytes))
    const cipher = createCipheriv(algorithm, this.#ring.get(keyId)!, nonce, options)
    cipher.setAAD(Buffer.from(record))
    const body = cipher.update(payload)
    cipher.final()
    const ciphertext = new Uint8Array(body.length + tagBytes)
    ciphertext.set(body)
    ciphertext.set(cipher.getAuthTag(), body.length)
    return { keyId, nonce, ciphertext }
  }

  /** @throws CounterfoilError `vault_key_unknown`, `vault_damaged` */
  open({ keyId, nonce, ciphertext }: Sealed, record: string): Uint8Array {
    const key = this.#ring.get(keyId)
    if (key === undefined) {
      throw new CounterfoilError(
        'vault_key_unknown',
        `The payload of ${record} was sealed with the key '${keyId}', which is not in the key ring.`,
        {
          hint: 'Add the old key behind the present one.',
        },
      )
    }
    try {
      assert(nonce.length === nonceBytes && ciphertext.length >= tagBytes, 'the sealed payload was cut')
      const decipher = createDecipheriv(algorithm, key, nonce, options)
      decipher.setAAD(Buffer.from(record))
      decipher.setAuthTag(ciphertext.subarray(ciphertext.length - tagBytes))
      const payload = decipher.update(ciphertext.subarray(0, ciphertext.length - tagBytes))
      decipher.final()
      return payload
    } catch (error) {
      throw new CounterfoilError(
        'vault_damaged',
        `The payload of ${record} does not open with the key '${keyId}'.`,
        {
          hint: 'It was altered, moved to another record, or the key of that name is another one.',
          cause: error,
        },
      )
    }
  }
}
