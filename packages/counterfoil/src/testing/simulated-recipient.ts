import type { Clock, Exchange } from '../domain/index.ts'
import type { Network, NetworkRequest } from '../recipients/index.ts'
import { type Act, type MemoryOptions, type Received, RecipientMemory } from './recipient-memory.ts'

/**
 * What happens to one request. `lost-request`: it never arrives. `error-before-acting`: it answers 500 and does
 * nothing. `duplicate`: the network delivers it twice. The other faults strike after the recipient acted.
 */
export type NetworkFault =
  | 'none'
  | 'refused-connection'
  | 'lost-request'
  | 'lost-answer'
  | 'late-answer'
  | 'error-before-acting'
  | 'error-after-acting'
  | 'duplicate'
  | 'stalled-request'
  | 'slow-answer'

/** How a simulated recipient behaves. */
export interface SimulatedRecipientOptions extends MemoryOptions {
  readonly clock: Clock
  /** Asked once a request, with its number from 0, lookups not counted. Default: no fault. */
  readonly fault?: (request: NetworkRequest, count: number) => NetworkFault
  /** Header that carries the key; null: the recipient recognises no repeat. */
  readonly keyHeader: string | null
  /** Lookup path up to the key; null: it offers none. */
  readonly lookupPath: string | null
  /** Path of tombstones up to the key. */
  readonly tombstonePath?: string
  /** How long a slow answer takes. Default 15 s. */
  readonly slowMs?: number
  /** How long a stalled request takes to land. Default 20 s. */
  readonly stallMs?: number
}

/**
 * A recipient behind a network, both simulated: the engine's own network port, so that the engine which ships
 * is the one under test.
 */
export class SimulatedRecipient implements Network {
  /** Every request that was put on the wire, whether it arrived or not. */
  readonly sent: { readonly at: number; readonly key: string | null; readonly body: string }[] = []
  readonly memory: RecipientMemory
  lookups = 0
  readonly #options: SimulatedRecipientOptions
  #requests = 0

  constructor(options: SimulatedRecipientOptions) {
    this.#options = options
    this.memory = new RecipientMemory(options.clock, options)
  }

  /** Every act, in order. */
  get acts(): readonly Act[] {
    return this.memory.acts
  }

  async close(): Promise<void> {}

  async send(request: NetworkRequest, signal: AbortSignal): Promise<Exchange> {
    const { lookupPath, tombstonePath, clock } = this.#options
    if (request.method === 'GET' && lookupPath !== null) {
      const key = keyAfter(lookupPath, request)
      if (key !== undefined) {
        this.lookups++
        return answer(this.memory.lookup(key))
      }
    }
    const closed = tombstonePath === undefined ? undefined : keyAfter(tombstonePath, request)
    if (closed !== undefined) return answer(this.memory.close(closed))
    const fault = this.#options.fault?.(request, this.#requests++) ?? 'none'
    if (fault === 'refused-connection') return { kind: 'notSent', why: 'connection refused' }
    const received = this.#received(request)
    this.sent.push({ at: clock.now(), key: received.key, body: received.body })
    switch (fault) {
      case 'lost-request':
        return await this.#timeout(request, signal)
      case 'stalled-request':
        clock.after(this.#options.stallMs ?? 20_000, () => this.memory.receive(received))
        return await this.#timeout(request, signal)
      case 'lost-answer':
        this.memory.receive(received)
        return await this.#timeout(request, signal)
      case 'late-answer': {
        const status = this.memory.receive(received)
        const torn = await this.#timeout(request, signal)
        return torn.kind === 'unclear' ? torn : answer(status)
      }
      case 'slow-answer': {
        const status = this.memory.receive(received)
        const answered = new Promise<Exchange>((resolve) => {
          clock.after(this.#options.slowMs ?? 15_000, () => resolve(answer(status)))
        })
        return await Promise.race([answered, this.#timeout(request, signal)])
      }
      case 'error-before-acting':
        return answer(this.memory.receive(received, true))
      case 'error-after-acting':
        this.memory.receive(received)
        return answer(500)
      case 'duplicate': {
        const status = this.memory.receive(received)
        this.memory.receive(received)
        return answer(status)
      }
      case 'none':
        return answer(this.memory.receive(received))
    }
  }

  #received({ headers, body }: NetworkRequest): Received {
    const { keyHeader, clock } = this.#options
    const header = (name: string) => headers[name] ?? headers[name.toLowerCase()] ?? null
    const version = header('fence-version')
    return {
      key: keyHeader === null ? null : header(keyHeader),
      body: body === null ? '' : Buffer.from(body).toString(),
      version: version === null ? null : Number(version),
      condition: header('if-match'),
      sentAt: clock.now(),
    }
  }

  #timeout(request: NetworkRequest, signal: AbortSignal): Promise<Exchange> {
    return new Promise((resolve) => {
      const end = (why: string) => resolve({ kind: 'unclear', why })
      this.#options.clock.after(request.timeoutMs, () => end(`no answer within ${request.timeoutMs} ms`))
      signal.addEventListener('abort', () => end('cut off'), { once: true })
    })
  }
}

function keyAfter(path: string, { url }: NetworkRequest): string | undefined {
  return url.pathname.startsWith(path) ? decodeURIComponent(url.pathname.slice(path.length)) : undefined
}

function answer(status: number): Exchange {
  return { kind: 'answered', status, headers: {}, body: new Uint8Array(0) }
}
