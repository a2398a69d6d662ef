import type { Clock, Log, RetentionPeriods } from '../domain/index.ts'
import type { Store } from '../store/index.ts'
import { describe } from './failure-text.ts'
import { forget } from './forget.ts'

export interface RetainerSettings {
  readonly periods: RetentionPeriods
  readonly everyMs: number
}

/** Applies retention again and again. Several processes may: each batch decides, and the same again takes nothing. */
export class Retainer {
  readonly #ports
  readonly #settings
  #cancel = () => {}
  #run: Promise<void> = Promise.resolve()
  #running = false

  constructor(
    ports: { readonly store: Store; readonly clock: Clock; readonly log: Log },
    settings: RetainerSettings,
  ) {
    this.#ports = ports
    this.#settings = settings
  }

  start(): void {
    this.#running = true
    this.#next()
  }

  /** Waits for the batch in work. */
  async stop(): Promise<void> {
    this.#running = false
    this.#cancel()
    await this.#run
  }

  #next(): void {
    if (!this.#running) return
    this.#cancel = this.#ports.clock.after(this.#settings.everyMs, () => {
      this.#run = this.#apply().finally(() => this.#next())
    })
  }

  async #apply(): Promise<void> {
    const { store, clock, log } = this.#ports
    const now = clock.now()
    try {
      const totals = await forget(this.#ports, this.#settings.periods, { now, goOn: () => this.#running })
      const result = Object.fromEntries(totals.map(({ step, count, bytes }) => [step, { count, bytes }]))
      if (totals.every(({ count }) => count === 0)) return
      await store.audit({
        at: now,
        operator: 'engine',
        role: 'operator',
        act: 'retention.apply',
        subject: 'retention',
        decision: `retention-${now}`,
        reason: 'as configured: retention.every',
        detail: { periods: this.#settings.periods },
        result,
      })
    } catch (error) {
      log('warn', 'retention could not be applied; it is tried again', { error: describe(error) })
    }
  }
}
