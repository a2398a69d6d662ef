import type { Clock, Log } from '../domain/index.ts'
import type { Store } from '../store/index.ts'
import { describe } from './failure-text.ts'

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
  #cancel = () => {}
  #looking: Promise<void> = Promise.resolve()
  #running = false

  constructor(
    ports: { readonly store: Store; readonly clock: Clock; readonly log: Log },
    settings: UnattendedSettings,
  ) {
    this.#ports = ports
    this.#settings = settings
  }

  start(): void {
    this.#running = true
    this.#next()
  }

  async stop(): Promise<void> {
    this.#running = false
    this.#cancel()
    await this.#looking
  }

  #next(): void {
    if (!this.#running) return
    const waitMs = Math.min(leastOften, Math.max(mostOften, this.#settings.afterMs / 10))
    this.#cancel = this.#ports.clock.after(waitMs, () => {
      this.#looking = this.#look().finally(() => this.#next())
    })
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
