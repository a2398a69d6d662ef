/** What the network saw of one request. The network port reports; nothing here decides. */
export type Exchange =
  /** A complete answer. `headers` has lower-case names. */
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: Uint8Array
    }
  /** Proof that no byte of the request reached the recipient: DNS, refused connection, TLS, or ended before sending. */
  | { readonly kind: 'notSent'; readonly why: string }
  /** At least one byte may have gone out and no complete answer came back: time-out, reset, torn body. */
  | { readonly kind: 'unclear'; readonly why: string }
