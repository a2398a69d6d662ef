import { type Fingerprint, fingerprintBytes, type Instant } from '../domain/index.ts'

/** Tokens that are remembered at once; the oldest goes first. */
export const maxTokens = 10_000

/**
 * Tokens that may vouch for one content only, for as long as they are fresh. In the memory of this process: it
 * narrows what a captured token is good for, and proves nothing across processes.
 */
export class SingleUse {
  readonly #keptMs: number
  readonly #used = new Map<string, { readonly content: Fingerprint; readonly until: Instant }>()

  constructor(keptMs: number) {
    this.#keptMs = keptMs
  }

  /** Takes the token for this content. False: it was taken for another. */
  take(token: string, content: Uint8Array, now: Instant): boolean {
    const fingerprint = fingerprintBytes(content)
    const before = this.#used.get(token)
    if (before !== undefined && before.until > now) return before.content === fingerprint
    this.#used.delete(token)
    this.#used.set(token, { content: fingerprint, until: now + this.#keptMs })
    if (this.#used.size > maxTokens) this.#used.delete(this.#used.keys().next().value!)
    return true
  }
}
