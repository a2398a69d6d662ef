import type { Outcome } from '../domain/index.ts'

/** Methods that cannot act (RFC 9110 section 9.2.1): a client may send these as often as it likes. */
const safe = ['GET', 'HEAD', 'OPTIONS']

/**
 * A fetch for one attempt. Vendors' clients like to repeat a request on their own; the second one that could act is
 * stopped here, so that an attempt in the ledger is one request on the wire.
 */
export function onceFetch(): {
  readonly fetch: typeof fetch
  /** What the attempt came to, with what was seen of its requests. */
  readonly correct: (outcome: Outcome) => Outcome
} {
  let sent = 0
  let stopped = 0
  return {
    async fetch(input, init) {
      const method = (init?.method ?? (input instanceof Request ? input.method : 'GET')).toUpperCase()
      if (!safe.includes(method) && ++sent > 1) {
        stopped++
        throw new Error('one attempt sends one request: this client must not retry by itself')
      }
      return await fetch(input, init)
    },
    correct(outcome) {
      const note = stopped === 0 ? '' : `; ${stopped} of the client's own retries stopped`
      // A retry that was stopped, or a claim that nothing was sent, proves nothing of the request that went out.
      if (outcome.kind === 'notActed' && outcome.status === undefined && sent > 0)
        return { kind: 'unknown', why: `a request had gone out; ${outcome.why}${note}` }
      return note === '' ? outcome : { ...outcome, why: outcome.why + note }
    },
  }
}
