import { setTimeout as wait } from 'node:timers/promises'
import type { Consumer, ConsumerPorts } from './consumer.ts'
import { withDeliveryLimit } from './delivery-limit.ts'
import { InHand } from './in-hand.ts'

/** What one session with a broker is given. */
export interface Session extends ConsumerPorts {
  /** Messages that were handed over and not settled yet: the back-pressure. Of all sessions together. */
  readonly inHand: InHand
  /** Aborts when the consumer stops. */
  readonly stop: AbortSignal
  /** Called when the broker answers as it should: the next pause is a short one again. */
  readonly onGood: () => void
}

/** What is different at each broker. */
export interface BrokerSide {
  readonly broker: string
  /**
   * Connects, asks for messages and settles them. Fulfils when it was stopped, and rejects when the connection is lost: then
   * another one begins after a pause.
   */
  session(about: Session): Promise<void>
  /** Once all is settled. */
  close(): Promise<void>
  /** In one clause, without what was sent. */
  faultOf(error: unknown): string
}

export interface ConsumingOptions {
  /** Default 64. */
  readonly inFlight?: number | undefined
  readonly maxDeliveries?: number | undefined
}

const retryMs = { first: 200, last: 5_000 } as const

/** A consumer of any broker: one session after the other, until it is stopped; and it stops when nothing is in hand. */
export class Consuming implements Consumer {
  readonly broker: string
  readonly #side: BrokerSide
  readonly #inHand: InHand
  readonly #maxDeliveries: number | undefined
  readonly #stop = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(side: BrokerSide, { inFlight = 64, maxDeliveries }: ConsumingOptions) {
    this.broker = side.broker
    this.#side = side
    this.#inHand = new InHand(inFlight)
    this.#maxDeliveries = maxDeliveries
  }

  start({ take, onFault }: ConsumerPorts): void {
    this.#running = this.#run({ take: withDeliveryLimit(take, this.#maxDeliveries), onFault })
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
    await this.#side.close()
  }

  async #run(ports: ConsumerPorts): Promise<void> {
    const { signal: stop } = this.#stop
    let pauseMs: number = retryMs.first
    const onGood = () => {
      pauseMs = retryMs.first
    }
    while (!stop.aborted) {
      try {
        await this.#side.session({ ...ports, inHand: this.#inHand, stop, onGood })
      } catch (error) {
        if (stop.aborted) break
        ports.onFault(this.#side.faultOf(error))
        await wait(pauseMs, undefined, { signal: stop }).catch(() => {})
        pauseMs = Math.min(pauseMs * 2, retryMs.last)
      }
    }
    await this.#inHand.empty()
  }
}
