import type { Clock, Log } from '../domain/index.ts'
import type { Store } from '../store/index.ts'
import { describe } from './failure-text.ts'
import { Periodic } from './periodic.ts'

export interface UnattendedSettings {
  /** How long an entry may wait with nobody assigned before it is escalated, and before it is again. */
  readonly afterMs: number
  /** Whom the escalation is addressed to. */
  readonly owner: string
}

const mostOften = 1_000
const leastOften = 60_000
/** Alerts that one look raises. */
const limit = 100

/** Looks for quarantine entries that nobody attends to. Each store call decides: several processes may look at once. */
export class Unattended {
  readonly #ports
  readonly #settings
  readonly #periodic: Periodic

  constructor(
    ports: { readonly store: Store; readonly clock: Clock; readonly log: Log },
    settings: UnattendedSettings,
  ) {
    this.#ports = ports
    this.#settings = settings
    const everyMs = Math.min(leastOften, Math.max(mostOften, settings.afterMs / 10))
    this.#periodic = new Periodic(ports.clock, everyMs, () => this.#look())
  }

  start(): void {
    this.#periodic.start()
  }

  /** Waits for the look in work. */
  stop(): Promise<void> {
    return this.#periodic.stop()
  }

  async #look(): Promise<void> {
    const { store, clock, log } = this.#ports
    const { afterMs, owner } = this.#settings
    const now = clock.now()
    try {
      await store.alertUnattended({ now, since: now - afterMs, owner, limit })
    } catch (error) {
      log('warn', 'quarantine could not be looked through for what nobody attends to', {
        error: describe(error),
      })
    }
  }
}
