import { createHash, createHmac, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'

/** What the senders of `vectors/made/` share. */

/** When everything is sent, in unix seconds. */
export const now = 1_767_225_600
export const secret = 'a secret that only these vectors know'
export const config: { readonly secrets: readonly string[] } = { secrets: [secret] }

interface Event {
  /** Absent: the payload has none. */
  readonly id?: string
  readonly source: string
  readonly type: string | null
  readonly version?: string
}

export interface Made {
  readonly why: string
  readonly config: object
  readonly headers?: Record<string, string>
  readonly body?: string
  readonly method?: string
  readonly url?: string
  readonly events?: readonly Event[]
  readonly answer?: object
}

export const json = { 'content-type': 'application/json' }
export const form = { 'content-type': 'application/x-www-form-urlencoded' }
type Encoding = 'hex' | 'base64'

export const hmac = (text: string, encoding: Encoding, key: string | Buffer = secret, algorithm = 'sha256') =>
  createHmac(algorithm, key).update(text).digest(encoding)
// PKCS #8 of an Ed25519 seed (RFC 8410 section 7).
const seed = createHash('sha256').update('a seed that only these vectors know').digest()
const privateKey: KeyObject = createPrivateKey({
  key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]),
  format: 'der',
  type: 'pkcs8',
})
export const publicKey = createPublicKey(privateKey)
export const rawPublicKey = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url')
export const ed25519 = (text: string) => sign(null, Buffer.from(text), privateKey)
