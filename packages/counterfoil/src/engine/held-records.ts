import type { Clock, Log, WorkerId } from '../domain/index.ts'
import type { Store } from '../store/index.ts'
import { describe } from './failure-text.ts'

/** Records handed on at once. */
export const maxPlanning = 64

export interface HeldRecord {
  readonly outbox: number
  /** Handed on while nothing else is: whatever it does to the process, it does to itself. */
  readonly alone: boolean
  readonly handOn: () => Promise<void>
}

interface Settings {
  readonly worker: WorkerId
  readonly leaseMs: number
  /** Called after each record that was handed on, or could not be. */
  readonly onDone: () => void
}

/**
 * Outbox records between their claim and their plan, handed on first come, first served. Their leases are renewed as
 * long as they wait, so that a lease which runs out tells of a process that ended or stood still.
 */
export class HeldRecords {
  readonly #ports: { readonly store: Store; readonly clock: Clock; readonly log: Log }
  readonly #settings: Settings
  #waiting: HeldRecord[] = []
  readonly #inWork = new Set<HeldRecord>()
  readonly #numbers = new Set<number>()
  #cancelRenewal: (() => void) | undefined

  constructor(
    ports: { readonly store: Store; readonly clock: Clock; readonly log: Log },
    settings: Settings,
  ) {
    this.#ports = ports
    this.#settings = settings
  }

  /** Records that wait; those in work do not count. */
  get waiting(): number {
    return this.#waiting.length
  }

  get inWork(): number {
    return this.#inWork.size
  }

  /** A record that is held already, because this process stood still past its lease, is not held twice. */
  hold(record: HeldRecord): void {
    if (this.#numbers.has(record.outbox)) return
    this.#numbers.add(record.outbox)
    this.#waiting.push(record)
    if (this.#cancelRenewal === undefined) this.#renewLater()
    this.#work()
  }

  /** Lets go of what waits: the leases end by themselves. */
  drop(): void {
    for (const { outbox } of this.#waiting) this.#numbers.delete(outbox)
    this.#waiting = []
  }

  #work(): void {
    for (;;) {
      const next = this.#waiting[0]
      if (next === undefined || this.#inWork.size >= this.#room(next)) return
      this.#waiting.shift()
      void this.#handOn(next)
    }
  }

  #room({ alone }: HeldRecord): number {
    const [first] = this.#inWork
    return alone || first?.alone === true ? 1 : maxPlanning
  }

  async #handOn(record: HeldRecord): Promise<void> {
    this.#inWork.add(record)
    try {
      await record.handOn()
    } catch (error) {
      // The lease ends by itself and the record is handed on again.
      this.#ports.log('warn', 'an outbox record could not be handed on; its lease will end', {
        error: describe(error),
      })
    } finally {
      this.#inWork.delete(record)
      this.#numbers.delete(record.outbox)
      this.#work()
      if (this.#numbers.size === 0) this.#stopRenewing()
      this.#settings.onDone()
    }
  }

  #renewLater(): void {
    const { worker, leaseMs } = this.#settings
    this.#cancelRenewal = this.#ports.clock.after(Math.floor(leaseMs / 3), () => {
      const { clock, log, store } = this.#ports
      // Alerts have negative numbers; to hand one on takes a moment.
      const outbox = [...this.#numbers].filter((number) => number > 0).sort((a, b) => a - b)
      const renewal = { worker, outbox, now: clock.now(), leaseMs }
      const renewed = outbox.length === 0 ? Promise.resolve() : store.renewOutbox(renewal)
      void renewed
        .catch((error: unknown) => {
          log('warn', 'leases of outbox records could not be renewed', { error: describe(error) })
        })
        .finally(() => {
          if (this.#numbers.size > 0) this.#renewLater()
          else this.#stopRenewing()
        })
    })
  }

  #stopRenewing(): void {
    this.#cancelRenewal?.()
    this.#cancelRenewal = undefined
  }
}
