import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from 'counterfoil'
import type { SimulatedHistory } from 'counterfoil/testing'
import { github } from '../processes.ts'
import type { Fleet } from './fleet.ts'
import { between, chance, pick } from './random.ts'
import { type Shape, shapes } from './shapes.ts'

export interface LoadOptions {
  readonly fleet: Fleet
  readonly random: Random
  /** Senders at once. */
  readonly senders: number
}

export interface Order {
  readonly reference: string
  readonly shape: Shape
  readonly domain: string
  readonly version: number
}

type Delivery = SimulatedHistory['deliveries'][number]

interface Sending {
  readonly id: string
  readonly type: 'issues' | 'unheard_of'
  readonly payload: object
  readonly variant: Delivery['variant']
  readonly order?: Order
  /** What it may be answered with. */
  readonly wanted: readonly string[]
}

const domains = 5
const share = { repeated: 0.3, sharing: 0.1, unsupported: 0.03, altered: 0.04 }

/**
 * Producers: each event goes to some server until one acknowledges it, and often once more. Some events ask for an
 * effect that another one asked for, some are of a type that nobody supports, and some ids come with other content.
 */
export class Load {
  readonly deliveries: Delivery[] = []
  /** What was answered with a 2xx, in the words of the checker. */
  readonly acknowledged: SimulatedHistory['entries'][number][] = []
  /** Effects that must come of it, by reference. */
  readonly orders = new Map<string, Order>()
  /** Acknowledged events whose plan writes a row of the program's own. */
  plans = 0
  /** What was answered otherwise than it must be. */
  readonly wrong: string[] = []
  requests = 0
  refused = 0
  readonly #options: LoadOptions
  #sending: Promise<unknown> | undefined
  #stopped = false
  #abandoned = false
  #events = 0
  #allowed = 0

  constructor(options: LoadOptions) {
    this.#options = options
  }

  start(): void {
    const { senders } = this.#options
    this.#sending = Promise.all(Array.from({ length: senders }, () => this.#send()))
  }

  /** So many more events may begin: what a run costs goes by its faults, and not by how long they take. */
  allow(events: number): void {
    this.#allowed += events
  }

  /** No new event; fulfils when all that were begun are acknowledged. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#sending
  }

  /** Ends at once, whatever is on its way. */
  abandon(): void {
    this.#stopped = true
    this.#abandoned = true
  }

  async #send(): Promise<void> {
    const { random } = this.#options
    while (!this.#stopped) {
      if (this.#events >= this.#allowed) {
        await sleep(10)
        continue
      }
      const id = `event-${++this.#events}`
      if (!chance(random, share.unsupported)) await this.#event(id, this.#order())
      else
        await this.#deliver({
          ...{ id, type: 'unheard_of', payload: { id }, variant: 'plain' },
          wanted: ['quarantined'],
        })
    }
  }

  async #event(id: string, order: Order): Promise<void> {
    const { random } = this.#options
    const event = { id, type: 'issues', payload: { action: 'opened', order }, order } as const
    const receipt = await this.#deliver({ ...event, variant: 'plain', wanted: ['accepted', 'duplicate'] })
    if (receipt !== undefined && order.shape === 'both') this.plans++
    if (chance(random, share.repeated)) {
      const again = await this.#deliver({ ...event, variant: 'copy', wanted: ['duplicate'] })
      if (again !== undefined && again !== receipt)
        this.wrong.push(`I2: ${id} has the receipts ${receipt} and ${again}`)
    }
    if (chance(random, share.altered)) {
      const other = { ...order, reference: `${order.reference}/altered` }
      const payload = { action: 'opened', order: other }
      await this.#deliver({ ...event, payload, order: other, variant: 'altered', wanted: ['conflict'] })
    }
  }

  #order(): Order {
    const { random } = this.#options
    if (this.orders.size > 0 && chance(random, share.sharing))
      return pick(random, [...this.orders.values()].slice(-20))
    const version = this.orders.size + 1
    const reference = `order/${version}`
    const order = { reference, shape: pick(random, shapes), domain: `account-${version % domains}`, version }
    this.orders.set(reference, order)
    return order
  }

  /** Until it is acknowledged. @returns the receipt */
  async #deliver({ id, type, payload, variant, order, wanted }: Sending): Promise<string | undefined> {
    const { fleet, random } = this.#options
    const index = this.deliveries.length
    const operations =
      order === undefined
        ? []
        : [{ recipient: order.shape, op: order.reference, body: JSON.stringify(order) }]
    const body = JSON.stringify(payload)
    const about = { producer: 'hub', id, type, body, variant, operations, poison: false } as const
    this.deliveries.push({ index, at: Date.now(), ...about })
    const init = github(type, id, body)
    while (!this.#abandoned) {
      const { url } = pick(random, fleet.servers)
      try {
        this.requests++
        const response = await fetch(`${url}/in/hub`, { ...init, signal: AbortSignal.timeout(3_000) })
        const text = await response.text()
        if (response.ok) return this.#answered(index, response.status, text, wanted)
        this.refused++
        if (response.status !== 503) this.wrong.push(`${id} was answered ${response.status}: ${text}`)
      } catch {
        // Nobody was there, or died: whether it was accepted, the next answer tells.
      }
      await sleep(between(random, 50, 300))
    }
    return undefined
  }

  #answered(delivery: number, status: number, text: string, wanted: readonly string[]): string {
    const { receipt, outcome } = JSON.parse(text) as { receipt: string; outcome: string }
    if (!wanted.includes(outcome))
      this.wrong.push(`${this.deliveries[delivery]!.id} was ${outcome}, not ${wanted.join(' or ')}`)
    this.acknowledged.push({
      ...{ at: Date.now(), kind: 'acknowledged', delivery, status, outcome, receipt, text },
      // Whether it was, its receipt at the end tells.
      committed: true,
    })
    return receipt
  }
}
