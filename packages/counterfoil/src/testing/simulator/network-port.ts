import type { Exchange } from '../../domain/index.ts'
import type { Network, NetworkRequest } from '../../recipients/index.ts'
import type { Draws } from './draws.ts'
import { type Arriving, answer, type FarAnswer, type FarSide } from './far-side.ts'
import type { FaultKind, Faults } from './faults.ts'
import type { Entry, Promises } from './history.ts'
import { type Life, never } from './life.ts'
import type { Timeline } from './timeline.ts'

const requestFaults: readonly (readonly [FaultKind, number])[] = [
  ['answer lost', 90],
  ['request lost', 70],
  ['request stalled', 80],
  ['answer late', 60],
  ['answer torn', 40],
  ['error before acting', 60],
  ['error after acting', 60],
  ['too many requests', 30],
  ['connection refused', 40],
  ['request repeated', 60],
  ['key in flight', 30],
  ['not let in', 15],
]
const lookupFaults: readonly (readonly [FaultKind, number])[] = [
  ['lookup lies', 200],
  ['lookup lost', 80],
  ['lookup failed', 80],
  ['lookup slow', 50],
]
const stallsMs = [6_000, 15_000, 30_000, 55_000, 120_000, 900_000, 3_900_000] as const

/** A recipient as the network knows it. */
export interface Site {
  readonly name: string
  readonly far: FarSide
  readonly promises: Promises
  /** The longest that a request may be under way: what is slower meets a recipient that has forgotten it. */
  readonly longestStallMs: number
  readonly tellsInFlight: boolean
}

export interface NetworkWorld {
  readonly timeline: Timeline
  readonly draws: Draws
  readonly faults: Faults
  readonly sites: ReadonlyMap<string, Site>
  record(entry: Entry): void
  /** Whether the effect and an attempt for this request are committed now. */
  isDurable(recipient: string, op: string, sent: number): boolean
}

/** Every request of every process: what of it arrives, when, and what comes back. */
export class SimulatedInternet {
  readonly #world: NetworkWorld
  /** Requests so far, by recipient and operation. */
  readonly #sent = new Map<string, number>()
  #questions = 0

  constructor(world: NetworkWorld) {
    this.#world = world
  }

  /** The network as one process has it. */
  of(life: Life): Network {
    return {
      send: (request, signal) => (life.alive ? this.#send(life, request, signal) : never()),
      close: async () => {},
    }
  }

  #send(life: Life, request: NetworkRequest, signal: AbortSignal): Promise<Exchange> {
    const site = this.#world.sites.get(request.url.hostname.split('.')[0]!)!
    const arriving: Arriving = {
      method: request.method,
      path: request.url.pathname + request.url.search,
      headers: request.headers,
      body: request.body === null ? '' : Buffer.from(request.body).toString(),
      sentAt: this.#world.timeline.now,
    }
    return new Promise((resolve) => {
      let over = false
      /** @returns whether the sender still waited for it */
      const settle = (exchange: Exchange) => {
        if (over || !life.alive) return false
        over = true
        resolve(exchange)
        return true
      }
      if (request.method === 'POST') this.#attempt(life, site, arriving, settle)
      else this.#ask(life, site, arriving, settle)
      const unclear = (why: string) => settle({ kind: 'unclear', why })
      this.#world.timeline.after(request.timeoutMs, life, () =>
        unclear(`no answer within ${request.timeoutMs} ms`),
      )
      signal.addEventListener('abort', () => unclear('cut off'), { once: true })
    })
  }

  #attempt(life: Life, site: Site, arriving: Arriving, end: (exchange: Exchange) => boolean): void {
    const { timeline, record } = this.#world
    const op = String(JSON.parse(arriving.body).op)
    const address = `${site.name} ${op}`
    const nth = (this.#sent.get(address) ?? 0) + 1
    this.#sent.set(address, nth)
    const about = { recipient: site.name, op, nth }
    const fault = this.#faultOf(requestFaults, `send/${address}/${nth}`, hash(address), nth, site)
    const settle = (exchange: Exchange) => {
      if (!end(exchange)) return
      const status = exchange.kind === 'answered' ? exchange.status : null
      record({
        at: timeline.now,
        kind: 'heard',
        ...about,
        status,
        exchange: exchange.kind,
        process: life.process,
      })
    }
    if (fault === 'connection refused') {
      timeline.after(3, life, () => settle({ kind: 'notSent', why: 'connection refused' }))
      return
    }
    const { headers, body } = arriving
    record({
      at: timeline.now,
      kind: 'sent',
      ...about,
      key: headers['idempotency-key'] ?? JSON.parse(body).key ?? null,
      body,
      version: headers['fence-version'] === undefined ? null : Number(headers['fence-version']),
      durable: this.#world.isDurable(site.name, op, nth),
      process: life.process,
      clock: life.clock.now(),
    })
    this.#carry(life, site, arriving, fault, hash(address), nth, settle)
  }

  /** Brings a request to its recipient and the answer back, as far as the fault lets them. */
  #carry(
    life: Life,
    site: Site,
    arriving: Arriving,
    fault: FaultKind | null,
    a: number,
    b: number,
    settle: (exchange: Exchange) => void,
  ): void {
    const { timeline, draws } = this.#world
    const there = 1 + draws.below(60, 'networkWait', a, b)
    const back = 1 + draws.below(60, 'networkWait', a, b + 0x10000)
    const land = (then?: (given: FarAnswer) => void) =>
      void Promise.resolve(site.far.receive(arriving, fault === 'error before acting')).then((given) => {
        if (given.status === 200) this.#intrude(site, arriving, a, b)
        then?.(given)
      })
    const answered = (given: FarAnswer, later = back) =>
      timeline.after(later, life, () => settle(exchangeOf(given)))
    switch (fault) {
      case 'request lost':
        return
      case 'request stalled': {
        timeline.after(this.#stallOf(site, a, b), null, () => land())
        return
      }
      case 'too many requests':
        timeline.after(there, null, () => answered(answer(429, { 'retry-after': '2' })))
        return
      case 'not let in':
        timeline.after(there, null, () => answered(answer(401)))
        return
      case 'key in flight':
        timeline.after(there, null, () => answered(answer(409)))
        return
      case 'answer lost':
        timeline.after(there, null, () => land())
        return
      case 'answer late':
        timeline.after(there, null, () => land((given) => answered(given, 5_000 + back)))
        return
      case 'answer torn':
        timeline.after(there, null, () =>
          land(() =>
            timeline.after(back, life, () => settle({ kind: 'unclear', why: 'the answer is torn' })),
          ),
        )
        return
      case 'error after acting':
        timeline.after(there, null, () => land(() => answered(answer(500))))
        return
      case 'request repeated':
        timeline.after(there, null, () => land(answered))
        timeline.after(
          draws.chance(0.5, 'networkPick', a, b + 0x20000) ? this.#stallOf(site, a, b) : there + back,
          null,
          () => land(),
        )
        return
      default:
        timeline.after(there, null, () => land(answered))
    }
  }

  #stallOf({ longestStallMs }: Site, a: number, b: number): number {
    return Math.min(this.#world.draws.pick(stallsMs, 'networkPick', a, b), longestStallMs)
  }

  /** Somebody else uses a key that has just acted. */
  #intrude(site: Site, arriving: Arriving, a: number, b: number): void {
    const { timeline, draws, faults, record } = this.#world
    if (site.promises.repeats === null || !draws.chance(0.04, 'intruder', a, b)) return
    const body = JSON.parse(arriving.body)
    const op = String(body.op)
    if (!faults.strike('other payload under a key', `intruder/${a}/${b}`, `${site.name} ${op}`)) return
    const other = { ...arriving, body: JSON.stringify({ ...body, intruder: true }), sentAt: timeline.now }
    timeline.after(1 + draws.below(1_000, 'intruder', a, b + 1), null, () => {
      void Promise.resolve(site.far.receive(other, false)).then(({ status }) =>
        record({ at: timeline.now, kind: 'intruded', recipient: site.name, op, status }),
      )
    })
  }

  #ask(life: Life, site: Site, arriving: Arriving, end: (exchange: Exchange) => void): void {
    const { timeline, draws, record } = this.#world
    const closes = arriving.method === 'PUT'
    const nth = this.#questions++
    const kind = closes ? 'closed' : 'asked'
    const key = decodeURIComponent(arriving.path.slice(arriving.path.lastIndexOf('/') + 1))
    const about = { kind, recipient: site.name, key, process: life.process } as const
    const fault = this.#lookupFault(site, nth, closes)
    const there = 1 + draws.below(40, 'lookupWait', nth)
    const settle = (given: FarAnswer) => {
      record({ at: timeline.now, ...about, status: given.status })
      end(exchangeOf(given))
    }
    const back = fault === 'lookup slow' ? 4_000 : there
    const answered = (given: FarAnswer) => timeline.after(back, life, () => settle(given))
    timeline.after(there, null, () => {
      if (fault === 'lookup lost') {
        record({ at: timeline.now, ...about, status: null })
      } else if (fault === 'lookup failed' || fault === 'tombstone failed') {
        answered(answer(500))
      } else if (closes) {
        void Promise.resolve(site.far.close(arriving)).then((given) => {
          if (fault !== 'tombstone lost') answered(given)
        })
      } else {
        void Promise.resolve(site.far.lookup(arriving, fault === 'lookup lies')).then(answered)
      }
    })
  }

  #lookupFault(site: Site, nth: number, closes: boolean): FaultKind | null {
    const id = `ask/${site.name}/${nth}`
    if (!closes) return this.#faultOf(lookupFaults, id, nth, 0, site)
    const { draws, faults } = this.#world
    const roll = draws.fraction('lookupFault', nth)
    if (roll >= 0.4) return null
    const kind = roll < 0.2 ? 'tombstone lost' : 'tombstone failed'
    return faults.strike(kind, id, site.name) ? kind : null
  }

  #faultOf(
    list: readonly (readonly [FaultKind, number])[],
    id: string,
    a: number,
    b: number,
    site: Site,
  ): FaultKind | null {
    const { draws, faults } = this.#world
    if (faults.over) return null
    let roll = draws.below(1_000, list === lookupFaults ? 'lookupFault' : 'networkFault', a, b)
    for (const [kind, share] of list) {
      roll -= share
      if (roll >= 0) continue
      if (kind === 'request repeated' && site.promises.repeats === null && !site.promises.conditional)
        return null
      if (kind === 'key in flight' && !site.tellsInFlight) return null
      if (kind === 'lookup lies' && site.promises.lookup === null) return null
      return faults.strike(kind, id, id.slice(id.indexOf('/') + 1)) ? kind : null
    }
    return null
  }
}

function exchangeOf({ status, headers, body }: FarAnswer): Exchange {
  return { kind: 'answered', status, headers, body: new Uint8Array(Buffer.from(body)) }
}

/** A number for a name, the same in every run. */
function hash(name: string): number {
  let h = 0x811c9dc5
  for (let at = 0; at < name.length; at++) h = Math.imul(h ^ name.charCodeAt(at), 0x01000193)
  return h >>> 0
}
