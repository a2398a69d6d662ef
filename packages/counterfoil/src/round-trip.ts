import {
  type Clock,
  CounterfoilError,
  codeOf,
  type Instant,
  isFinalState,
  type Log,
  type Random,
} from './domain/index.ts'
import { Periodic, type Trigger, trigger } from './engine/index.ts'
import { type InternalProducer, internal, type OutgoingEvent } from './intake/index.ts'
import { type Recipient, recipient } from './recipients/index.ts'
import type { Accepted, EffectView, Store } from './store/index.ts'

const name = 'counterfoil/round-trip'
const lookMs = 100

export interface RoundTripPorts {
  readonly store: Pick<Store, 'showEffects'>
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** Accepts an event as a delivery is: through the store, with its outbox record. */
  readonly accept: (event: OutgoingEvent<unknown>) => Promise<Accepted>
}

/** What a configuration has beside its own for it: a producer, a trigger, and a recipient that answers at once. */
export interface RoundTripParts {
  readonly producer: InternalProducer
  readonly trigger: Trigger
  readonly recipient: Recipient
}

const anything = {
  '~standard': { version: 1, vendor: 'counterfoil', validate: (value: unknown) => ({ value }) },
} as const

/**
 * An event of our own at an interval, from its receipt to the confirmed effect, by the ways that live events go: store,
 * relay, plan, attempt, evidence. Only the network is left out.
 */
export class RoundTrip {
  readonly parts: RoundTripParts
  readonly #everyMs: number
  readonly #event
  #lastMs: number | null = null
  #begunAt: Instant | null = null

  constructor(everyMs: number) {
    if (everyMs < 1_000) {
      throw new CounterfoilError('config_invalid', 'roundTrip.every is shorter than a second.', {
        hint: 'Each leaves a receipt and an effect: 1m is often enough.',
      })
    }
    this.#everyMs = everyMs
    const producer = internal(name)
    const loopback = recipient(name, {
      // A repeat is safe: nothing of it ever waits for a person.
      contract: {
        idempotency: {
          header: 'idempotency-key',
          remembersFor: '24h',
          otherPayload: 'refused',
          replays: 'first-answer',
        },
      },
      call: async () => ({}),
    })
    const arrive = loopback.effect('round-trip', { payload: anything, request: () => ({}) })
    this.#event = producer.event('round-trip')
    this.parts = {
      producer,
      recipient: loopback,
      trigger: trigger(name, {
        on: this.#event,
        plan: ({ id }, { effect }) => effect(arrive, { key: id, payload: null }),
      }),
    }
  }

  /** How long the last took, or the one under way takes by now, where that is longer. Null before the first. */
  msAt(now: Instant): number | null {
    const present = this.#begunAt === null ? null : now - this.#begunAt
    return this.#lastMs === null ? present : Math.max(this.#lastMs, present ?? 0)
  }

  start(ports: RoundTripPorts): Periodic {
    const periodic: Periodic = new Periodic(ports.clock, this.#everyMs, () =>
      this.#travel(ports, () => periodic.running),
    )
    periodic.start()
    return periodic
  }

  async #travel(ports: RoundTripPorts, goesOn: () => boolean): Promise<void> {
    const begunAt = ports.clock.now()
    this.#begunAt = begunAt
    const id = `round-trip/${begunAt}/${Buffer.from(ports.random.bytes(6)).toString('hex')}`
    try {
      await ports.accept({ type: this.#event, id, data: {} })
      const arrived = await this.#arrival(ports, id, goesOn)
      if (arrived !== null) this.#lastMs = Math.max(0, arrived.changedAt - begunAt)
      this.#begunAt = null
    } catch (error) {
      // It counts as under way until the next begins.
      ports.log('warn', 'a round trip could not be made', { code: codeOf(error) ?? 'internal' })
    }
  }

  async #arrival(
    { store, clock }: RoundTripPorts,
    key: string,
    goesOn: () => boolean,
  ): Promise<EffectView | null> {
    while (goesOn()) {
      const [story] = await store.showEffects(key)
      if (story !== undefined && isFinalState(story.effect.state)) return story.effect
      await new Promise<void>((resolve) => void clock.after(lookMs, resolve))
    }
    return null
  }
}
