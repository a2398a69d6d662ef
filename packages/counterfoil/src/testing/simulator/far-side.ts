import type { Shape } from './shapes.ts'

/** A request as it arrives. */
export interface Arriving {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly sentAt: number
}

export interface FarAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Act {
  readonly key: string | null
  readonly body: string
  readonly domain: string | null
  readonly version: number | null
}

/** The far side of an effect: what it was asked, what it did, what it says. */
export interface FarSide {
  /** @param fails the work goes wrong: it answers 500 and does nothing */
  receive(request: Arriving, fails: boolean): FarAnswer | Promise<FarAnswer>
  /** @param lies where the contract lets an act be missing from the answer, it is */
  lookup(request: Arriving, lies: boolean): FarAnswer | Promise<FarAnswer>
  close(request: Arriving): FarAnswer | Promise<FarAnswer>
}

export interface FarSidePorts {
  readonly now: () => number
  readonly after: (ms: number, run: () => void) => void
  readonly acted: (act: Act) => void
}

interface Remembered {
  readonly body: string
  readonly at: number
  status: number
  /** It has acted or failed, and not merely taken it on. */
  done: boolean
}

const deferMs = 20_000

/** A recipient that keeps one shape of contract to the letter and no further. Shares nothing with the engine. */
export class SimulatedFarSide implements FarSide {
  readonly #ports: FarSidePorts
  readonly #shape: Shape
  readonly #keys = new Map<string, Remembered>()
  readonly #closed = new Set<string>()
  readonly #versions = new Map<string, number>()
  readonly #changed = new Set<string>()

  constructor(ports: FarSidePorts, shape: Shape) {
    this.#ports = ports
    this.#shape = shape
  }

  receive(request: Arriving, fails: boolean): FarAnswer {
    const { promises, acceptsForMs } = this.#shape
    const key = this.#keyOf(request)
    if (this.#ports.now() > request.sentAt + acceptsForMs) return answer(409)
    if (key !== null && this.#closed.has(key)) return answer(410)
    const first = this.#find(key)
    if (first !== undefined) return this.#repeated(first, request)
    const status = fails ? 500 : this.#carryOut(request, key)
    const remembers = promises.repeats !== null && (status < 300 || promises.remembersErrors)
    if (key !== null && remembers)
      this.#keys.set(key, { body: request.body, at: this.#ports.now(), status, done: status !== 202 })
    return answer(status)
  }

  lookup({ path }: Arriving, lies: boolean): FarAnswer {
    const first = this.#find(lastPart(path))
    const { lookupLagMs } = this.#shape
    const mayBeMissing = first !== undefined && this.#ports.now() < first.at + lookupLagMs
    if (first === undefined || first.status >= 300 || (lies && mayBeMissing)) return answer(404)
    return answer(first.done ? 200 : 202)
  }

  close({ path }: Arriving): FarAnswer {
    const key = lastPart(path)
    const first = this.#find(key)
    if (first !== undefined && first.status < 300) return answer(409)
    this.#closed.add(key)
    return answer(200)
  }

  #keyOf({ headers, body }: Arriving): string | null {
    const place = this.#shape.contract.idempotency
    if (place === undefined) return null
    return place.header === undefined ? JSON.parse(body).key : (headers[place.header.toLowerCase()] ?? null)
  }

  #find(key: string | null): Remembered | undefined {
    if (key === null) return undefined
    const first = this.#keys.get(key)
    const { remembersMs } = this.#shape.promises
    return first !== undefined && this.#ports.now() < first.at + remembersMs ? first : undefined
  }

  #repeated(first: Remembered, { body }: Arriving): FarAnswer {
    if (first.body !== body) return answer(422)
    return this.#shape.promises.repeats === 'refused' ? answer(409) : answer(first.status)
  }

  #carryOut(request: Arriving, key: string | null): number {
    const { fences, conditional, defers } = this.#shape.promises
    const { 'fence-version': text, 'fence-domain': domain = '' } = request.headers
    const version = text === undefined ? null : Number(text)
    if (fences && version !== null) {
      if (version <= (this.#versions.get(domain) ?? 0)) return 412
      this.#versions.set(domain, version)
    }
    if (conditional) {
      if (this.#changed.has(request.path)) return 412
      this.#changed.add(request.path)
    }
    const act = { key, body: request.body, domain: version === null ? null : domain, version }
    if (!defers) {
      this.#ports.acted(act)
      return 200
    }
    this.#ports.after(deferMs, () => {
      this.#ports.acted(act)
      const taken = this.#find(key)
      if (taken !== undefined) taken.done = true
    })
    return 202
  }
}

export function lastPart(path: string): string {
  return decodeURIComponent(path.slice(path.lastIndexOf('/') + 1))
}

export function answer(status: number, headers: Readonly<Record<string, string>> = {}): FarAnswer {
  return { status, headers, body: '' }
}
