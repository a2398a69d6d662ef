import { createHash, hash } from 'node:crypto'
import { checkIdentityPart } from './delivery-identity.ts'
import { CounterfoilError } from './errors.ts'
import type { EffectKey, IdempotencyKey } from './ids.ts'

/** How a recipient wants its keys. */
export type KeyFormat =
  /** RFC 9562 version 5, in lower case. */
  | { readonly form: 'uuid' }
  /** The prefix and as much of the digest as fits, in base64url. */
  | { readonly form: 'text'; readonly maxLength: number; readonly prefix?: string }

const defaultFormat: KeyFormat = { form: 'text', maxLength: 64, prefix: 'cf_' }

/** Fewer bits could let two effects meet at a recipient. */
const leastCharacters = Math.ceil(128 / 6)

/** Our own namespace of RFC 9562 section 6.6; changing it would change every key. */
const namespace = Buffer.from('c0e7f011c0e74f01b1d3c0e7f011c0e7', 'hex')

/** @throws CounterfoilError `effect_key_invalid` */
export function effectKey(text: string): EffectKey {
  const fault = typeof text === 'string' ? checkIdentityPart(text) : 'is not text'
  if (fault !== undefined) {
    throw new CounterfoilError('effect_key_invalid', `An effect key ${fault}.`, {
      hint: 'Name the operation and its revision, such as invoice/481/collect/revision/3.',
    })
  }
  return text as EffectKey
}

/**
 * What the recipient sees: a function of the effect identity and the recipient's format alone, so the same
 * effect has the same key for ever, and nothing can make another one.
 *
 * @throws CounterfoilError `idempotency_key_unfit`
 */
export function idempotencyKey(effect: {
  readonly recipient: string
  readonly key: EffectKey
  readonly format?: KeyFormat
}): IdempotencyKey {
  const { recipient, key, format = defaultFormat } = effect
  const digest = hash('sha256', `${recipient.length}:${recipient}${key.length}:${key}`, 'buffer')
  if (format.form === 'uuid') return uuid(digest) as IdempotencyKey
  const { prefix = '', maxLength } = format
  const room = maxLength - prefix.length
  if (room < leastCharacters) {
    throw new CounterfoilError(
      'idempotency_key_unfit',
      `Keys of ${maxLength} characters with the prefix '${prefix}' leave room for ${Math.max(0, room)}.`,
      {
        hint: `At least ${leastCharacters} characters are needed beside the prefix to keep effects apart.`,
      },
    )
  }
  return (prefix + digest.toString('base64url').slice(0, room)) as IdempotencyKey
}

function uuid(name: Uint8Array): string {
  const bytes = createHash('sha1').update(namespace).update(name).digest()
  bytes[6] = (bytes[6]! & 0x0f) | 0x50
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  )
}
