import type { Clock, Exchange } from '../domain/index.ts'
import type { Network, NetworkRequest } from '../recipients/index.ts'

/** What happens to one request. `lost-request`: it never arrives. The other faults strike after the recipient acted. */
export type NetworkFault =
  | 'none'
  | 'refused-connection'
  | 'lost-request'
  | 'lost-answer'
  | 'late-answer'
  | 'error-after-acting'
  | 'stalled-request'
  | 'slow-answer'

export interface SimulatedRecipientOptions {
  readonly clock: Clock
  /** Asked once a request, with its number from 0, lookups not counted. Default: no fault. */
  readonly fault?: (request: NetworkRequest, count: number) => NetworkFault
  /** Header that carries the key; null: the recipient recognises no repeat. */
  readonly keyHeader: string | null
  /** Lookup path up to the key; null: it offers none. */
  readonly lookupPath: string | null
  /** How long a slow answer takes. Default 15 s. */
  readonly slowMs?: number
  /** How long a stalled request takes to land. Default 20 s. */
  readonly stallMs?: number
}

/** One act, as the recipient itself knows it: the referee of every claim about what happened. */
export interface Act {
  readonly at: number
  readonly key: string | null
  readonly body: string
}

/**
 * A recipient behind a network, both simulated: the engine's own network port, so that the engine which ships
 * is the one under test.
 */
export class SimulatedRecipient implements Network {
  /** Every act, in order. */
  readonly acts: Act[] = []
  /** Every request that was put on the wire, whether it arrived or not. */
  readonly sent: { readonly at: number; readonly key: string | null; readonly body: string }[] = []
  lookups = 0
  readonly #options: SimulatedRecipientOptions
  readonly #remembered = new Map<string, string>()
  #requests = 0

  constructor(options: SimulatedRecipientOptions) {
    this.#options = options
  }

  async close(): Promise<void> {}

  async send(request: NetworkRequest, signal: AbortSignal): Promise<Exchange> {
    const { lookupPath } = this.#options
    if (request.method === 'GET' && lookupPath !== null && request.url.pathname.startsWith(lookupPath)) {
      this.lookups++
      const key = decodeURIComponent(request.url.pathname.slice(lookupPath.length))
      return answer(this.#remembered.has(key) ? 200 : 404)
    }
    const { keyHeader, clock } = this.#options
    const key =
      keyHeader === null
        ? null
        : (request.headers[keyHeader] ?? request.headers[keyHeader.toLowerCase()] ?? null)
    const body = request.body === null ? '' : Buffer.from(request.body).toString()
    const fault = this.#options.fault?.(request, this.#requests++) ?? 'none'
    if (fault === 'refused-connection') return { kind: 'notSent', why: 'connection refused' }
    this.sent.push({ at: clock.now(), key, body })
    switch (fault) {
      case 'lost-request':
        return await this.#timeout(request, signal)
      case 'stalled-request':
        clock.after(this.#options.stallMs ?? 20_000, () => this.#act(key, body))
        return await this.#timeout(request, signal)
      case 'lost-answer':
        this.#act(key, body)
        return await this.#timeout(request, signal)
      case 'late-answer': {
        const status = this.#act(key, body)
        const torn = await this.#timeout(request, signal)
        return torn.kind === 'unclear' ? torn : answer(status)
      }
      case 'slow-answer': {
        const status = this.#act(key, body)
        const answered = new Promise<Exchange>((resolve) => {
          this.#options.clock.after(this.#options.slowMs ?? 15_000, () => resolve(answer(status)))
        })
        return await Promise.race([answered, this.#timeout(request, signal)])
      }
      case 'error-after-acting':
        this.#act(key, body)
        return answer(500)
      case 'none':
        return answer(this.#act(key, body))
    }
  }

  #act(key: string | null, body: string): number {
    if (key !== null) {
      const first = this.#remembered.get(key)
      if (first !== undefined) return first === body ? 200 : 422
      this.#remembered.set(key, body)
    }
    this.acts.push({ at: this.#options.clock.now(), key, body })
    return 200
  }

  #timeout(request: NetworkRequest, signal: AbortSignal): Promise<Exchange> {
    return new Promise((resolve) => {
      const end = (why: string) => resolve({ kind: 'unclear', why })
      this.#options.clock.after(request.timeoutMs, () => end(`no answer within ${request.timeoutMs} ms`))
      signal.addEventListener('abort', () => end('cut off'), { once: true })
    })
  }
}

function answer(status: number): Exchange {
  return { kind: 'answered', status, headers: {}, body: new Uint8Array(0) }
}
