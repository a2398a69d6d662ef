import type { Clock, Log, RetentionPeriods } from '../domain/index.ts'
import type { Store } from '../store/index.ts'
import { describe } from './failure-text.ts'
import { forget } from './forget.ts'
import { Periodic } from './periodic.ts'

export interface RetainerSettings {
  readonly periods: RetentionPeriods
  readonly everyMs: number
}

/** Applies retention again and again. Several processes may: each batch decides, and the same again takes nothing. */
export class Retainer {
  readonly #ports
  readonly #settings
  readonly #periodic: Periodic

  constructor(
    ports: { readonly store: Store; readonly clock: Clock; readonly log: Log },
    settings: RetainerSettings,
  ) {
    this.#ports = ports
    this.#settings = settings
    this.#periodic = new Periodic(ports.clock, settings.everyMs, () => this.#apply())
  }

  start(): void {
    this.#periodic.start()
  }

  /** Waits for the batch in work. */
  stop(): Promise<void> {
    return this.#periodic.stop()
  }

  async #apply(): Promise<void> {
    const { store, clock, log } = this.#ports
    const now = clock.now()
    try {
      const totals = await forget(this.#ports, this.#settings.periods, {
        now,
        goOn: () => this.#periodic.running,
      })
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
