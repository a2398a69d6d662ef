import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from 'counterfoil'
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

interface Order {
  readonly reference: string
  readonly shape: Shape
  readonly domain: string
  readonly version: number
}

const domains = 5
const share = { repeated: 0.3, sharing: 0.1, unsupported: 0.03, forged: 0.04 }

/**
 * Producers: each event goes to some server until one acknowledges it, and often once more. Some events ask for an
 * effect that another one asked for, some are of a type that nobody supports, and some ids come with other content.
 */
export class Load {
  /** Receipts that were named in a 2xx. */
  readonly acknowledged = new Set<string>()
  /** Effects that must come of it, by reference. */
  readonly orders = new Map<string, Order>()
  /** Deliveries that were answered otherwise than they must be. */
  readonly wrong: string[] = []
  /** Acknowledged events whose plan writes a row of the program's own. */
  plans = 0
  deliveries = 0
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
      if (chance(random, share.unsupported)) {
        await this.#deliver(id, 'unheard_of', { id }, ['quarantined'])
      } else {
        const order = this.#order()
        await this.#event(id, order)
      }
    }
  }

  async #event(id: string, order: Order): Promise<void> {
    const { random } = this.#options
    const payload = { action: 'opened', order }
    const receipt = await this.#deliver(id, 'issues', payload, ['accepted', 'duplicate'])
    if (receipt !== undefined && order.shape === 'both') this.plans++
    if (chance(random, share.repeated)) {
      const again = await this.#deliver(id, 'issues', payload, ['duplicate'])
      if (again !== receipt && !this.#abandoned)
        this.wrong.push(`I2: ${id} has the receipts ${receipt} and ${again}`)
    }
    if (chance(random, share.forged)) {
      const forged = {
        action: 'opened',
        order: { ...order, reference: `${order.reference}/forged`, forged: true },
      }
      await this.#deliver(id, 'issues', forged, ['conflict'])
    }
  }

  #order(): Order {
    const { random } = this.#options
    if (this.orders.size > 0 && chance(random, share.sharing))
      return pick(random, [...this.orders.values()].slice(-20))
    const version = this.orders.size + 1
    const order = {
      reference: `order/${version}`,
      shape: pick(random, shapes),
      domain: `account-${version % domains}`,
      version,
    }
    this.orders.set(order.reference, order)
    return order
  }

  /** @returns the receipt */
  async #deliver(
    id: string,
    type: string,
    payload: unknown,
    wanted: readonly string[],
  ): Promise<string | undefined> {
    const { fleet, random } = this.#options
    const init = github(type, id, payload)
    while (!this.#abandoned) {
      const { url } = pick(random, fleet.servers)
      try {
        this.deliveries++
        const response = await fetch(`${url}/in/github`, { ...init, signal: AbortSignal.timeout(3_000) })
        const answer = (await response.json()) as { receipt: string; outcome: string }
        if (!response.ok) {
          this.refused++
          if (response.status !== 503)
            this.wrong.push(`${id} was answered ${response.status}: ${JSON.stringify(answer)}`)
          throw new Error(String(response.status))
        }
        this.acknowledged.add(answer.receipt)
        if (!wanted.includes(answer.outcome)) this.wrong.push(`${id} was ${answer.outcome}, not ${wanted}`)
        return answer.receipt
      } catch {
        await sleep(between(random, 50, 300))
      }
    }
    return undefined
  }
}
