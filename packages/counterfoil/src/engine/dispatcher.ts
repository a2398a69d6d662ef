import type { EffectId } from '../domain/index.ts'
import type { DueWork } from '../store/index.ts'
import { attend, type EffectPorts, type EffectSettings, runAttempt } from './effects.ts'
import { describe } from './failure-text.ts'
import { passes } from './patience.ts'

/**
 * Takes effects that are due, as many as each recipient has free places, and keeps their leases alive while
 * an attempt runs. A lease schedules and proves nothing: what it cannot keep becomes unknown.
 */
export class Dispatcher {
  readonly #ports: EffectPorts
  readonly #settings: EffectSettings
  readonly #inFlight = new Map<EffectId, number>()
  readonly #places = new Map<string, number>()
  readonly #abort = new AbortController()
  #taking = false
  #again = false
  #stopped = true
  #cancelRenewal = () => {}
  #idle: (() => void)[] = []

  constructor(ports: EffectPorts, settings: EffectSettings) {
    this.#ports = ports
    this.#settings = settings
    for (const [name, recipient] of settings.recipients) this.#places.set(name, recipient.concurrency)
  }

  start(): void {
    this.#stopped = false
    this.#scheduleRenewal()
  }

  /** Takes nothing more, waits up to `drainMs` for what is in flight, then cuts it off: that becomes unknown. */
  async stop(drainMs: number): Promise<void> {
    this.#stopped = true
    const drained =
      this.#inFlight.size === 0 && !this.#taking
        ? Promise.resolve()
        : new Promise<void>((resolve) => this.#idle.push(resolve))
    const cancel = this.#ports.clock.after(drainMs, () => this.#abort.abort())
    await drained
    cancel()
    this.#cancelRenewal()
  }

  /** Looks for due effects; called on every hint and by the poll that is the truth behind the hints. */
  async take(): Promise<void> {
    if (this.#taking) {
      this.#again = true
      return
    }
    if (this.#stopped) return
    this.#taking = true
    try {
      do {
        this.#again = false
        const slots = this.#freePlaces()
        if (Object.keys(slots).length === 0) return
        const { worker, leaseMs } = this.#settings
        const taken = await this.#ports.store.takeDue({
          worker,
          now: this.#ports.clock.now(),
          leaseMs,
          slots,
        })
        for (const work of taken) this.#run(work)
      } while (this.#again && !this.#stopped)
    } catch (error) {
      const level = passes(error) ? 'warn' : 'error'
      this.#ports.log(level, 'the store gave no due effects; it is asked again', { error: describe(error) })
    } finally {
      this.#taking = false
      this.#wakeStop()
    }
  }

  #freePlaces(): Record<string, number> {
    const slots: Record<string, number> = {}
    for (const [name, free] of this.#places) if (free > 0) slots[name] = free
    return slots
  }

  #run(work: DueWork): void {
    const { id, recipient } = work.effect
    this.#count(id, recipient, 1)
    const { signal } = this.#abort
    const run =
      work.kind === 'attempt'
        ? runAttempt(this.#ports, this.#settings, work, signal)
        : attend(this.#ports, this.#settings, work.effect, signal)
    void run
      .catch((error: unknown) => {
        this.#ports.log('error', 'an effect could not be worked on; its lease will end', {
          effect: id,
          error: describe(error),
        })
      })
      .finally(() => {
        this.#count(id, recipient, -1)
        this.#wakeStop()
        void this.take()
      })
  }

  /** An effect may be in work twice for a moment: begun again while the end of its last attempt is being noted. */
  #count(id: EffectId, recipient: string, by: 1 | -1): void {
    const works = (this.#inFlight.get(id) ?? 0) + by
    if (works === 0) this.#inFlight.delete(id)
    else this.#inFlight.set(id, works)
    this.#places.set(recipient, (this.#places.get(recipient) ?? 0) - by)
  }

  #scheduleRenewal(): void {
    const { leaseMs, worker } = this.#settings
    this.#cancelRenewal = this.#ports.clock.after(Math.floor(leaseMs / 3), () => {
      const effects = [...this.#inFlight.keys()]
      const renewal = { worker, effects, now: this.#ports.clock.now(), leaseMs }
      const renewed = effects.length === 0 ? Promise.resolve() : this.#ports.store.renew(renewal)
      void renewed
        .catch((error: unknown) => {
          this.#ports.log('warn', 'leases could not be renewed', { error: describe(error) })
        })
        .finally(() => {
          if (!this.#stopped || this.#inFlight.size > 0) this.#scheduleRenewal()
        })
    })
  }

  #wakeStop(): void {
    if (this.#inFlight.size > 0 || this.#taking) return
    for (const resolve of this.#idle.splice(0)) resolve()
  }
}
