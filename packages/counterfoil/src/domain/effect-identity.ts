import { createHash, hash } from 'node:crypto'
import { checkIdentityPart, encodeParts } from './delivery-identity.ts'
import { CounterfoilError } from './errors.ts'
import type { EffectKey, IdempotencyKey } from './ids.ts'

/** How a recipient wants its keys. */
export type KeyFormat =
  /** RFC 9562 version 5, in lower case. */
  | { readonly form: 'uuid' }
  /** The prefix and as much of a SHA-256 as fits, in base64url unless said otherwise. Lengths in characters. */
  | {
      readonly form: 'text'
      readonly maxLength: number
      readonly prefix?: string
      /** `base32`: lower-case letters and the digits 2 to 7. */
      readonly alphabet?: Alphabet
    }

type Alphabet = 'base64url' | 'base32' | 'hex'

const defaultFormat: KeyFormat = { form: 'text', maxLength: 64, prefix: 'cf_' }

/** Fewer than 128 bits could let two effects meet at a recipient. */
const leastBits = 128
const bitsOf: Readonly<Record<Alphabet, number>> = { base64url: 6, base32: 5, hex: 4 }

/** Our own namespace (RFC 9562 section 6.6). To change it would change every key. */
const namespace = Buffer.from('c0e7f011c0e74f01b1d3c0e7f011c0e7', 'hex')

/**
 * Checks the semantic name of one operation: 1 to 512 UTF-16 units, no control characters.
 *
 * @throws CounterfoilError `effect_key_invalid`
 */
export function effectKey(text: string): EffectKey {
  const fault = checkIdentityPart(text)
  if (fault !== undefined) {
    throw new CounterfoilError('effect_key_invalid', `An effect key ${fault}.`, {
      hint: 'Name the operation and its revision, such as invoice/481/collect/revision/3.',
    })
  }
  return text as EffectKey
}

/**
 * What the recipient sees: a function of the effect identity and the recipient's format alone. So the same
 * effect has the same key for ever, and no attempt, time or event can make another one.
 *
 * @throws CounterfoilError `idempotency_key_unfit` when the format cannot keep effects apart
 */
export function idempotencyKey(effect: {
  readonly recipient: string
  readonly key: EffectKey
  readonly format?: KeyFormat
}): IdempotencyKey {
  const { recipient, key, format = defaultFormat } = effect
  const digest = hash('sha256', encodeParts([recipient, key]), 'buffer')
  if (format.form === 'uuid') return uuid(digest) as IdempotencyKey
  const { prefix = '', maxLength, alphabet = 'base64url' } = format
  const room = maxLength - prefix.length
  const leastCharacters = Math.ceil(leastBits / bitsOf[alphabet])
  if (!Number.isInteger(maxLength) || room < leastCharacters) {
    throw new CounterfoilError(
      'idempotency_key_unfit',
      `Keys of ${maxLength} characters with the prefix '${prefix}' do not leave room for 128 bits.`,
      { hint: `At least ${leastCharacters} characters are needed beside the prefix to keep effects apart.` },
    )
  }
  if (!/^[!-~]*$/.test(prefix)) {
    throw new CounterfoilError('idempotency_key_unfit', 'The prefix of the keys cannot stand in a header.', {
      hint: 'Use visible ASCII characters only.',
    })
  }
  return (prefix + spell(digest, alphabet).slice(0, room)) as IdempotencyKey
}

function spell(digest: Buffer, alphabet: Alphabet): string {
  if (alphabet !== 'base32') return digest.toString(alphabet)
  const bits = [...digest].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{5}/g) ?? [])
    .map((five) => 'abcdefghijklmnopqrstuvwxyz234567'[Number.parseInt(five, 2)])
    .join('')
}

/** RFC 9562 section 5.5. */
function uuid(name: Uint8Array): string {
  const bytes = createHash('sha1').update(namespace).update(name).digest()
  bytes[6] = (bytes[6]! & 0x0f) | 0x50
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
