import type { Clock } from '../domain/index.ts'

/** Work that is done again and again while the engine runs, each time after the last has ended. */
export class Periodic {
  readonly #clock: Clock
  readonly #everyMs: number
  readonly #work: () => Promise<void>
  #cancel = () => {}
  #last: Promise<void> = Promise.resolve()
  #running = false

  /** @param work must not reject */
  constructor(clock: Clock, everyMs: number, work: () => Promise<void>) {
    this.#clock = clock
    this.#everyMs = everyMs
    this.#work = work
  }

  /** False from the moment that it is to stop: long work ends early. */
  get running(): boolean {
    return this.#running
  }

  start(): void {
    this.#running = true
    this.#next()
  }

  /** Waits for what is in work. */
  async stop(): Promise<void> {
    this.#running = false
    this.#cancel()
    await this.#last
  }

  #next(): void {
    if (!this.#running) return
    this.#cancel = this.#clock.after(this.#everyMs, () => {
      this.#last = this.#work().finally(() => this.#next())
    })
  }
}
