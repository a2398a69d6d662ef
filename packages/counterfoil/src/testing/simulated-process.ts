/**
 * A process that can die inside a test. What it still runs afterwards is a ghost: every call that it makes
 * through `guard` hangs for ever, so it reaches neither store nor network again.
 */
export class SimulatedProcess {
  /** Fulfils at death. */
  readonly died: Promise<void>
  /** True once its planned fault has happened: a scenario that never met its fault proves nothing. */
  struck = false
  #alive = true
  #pending = 0
  #die = () => {}

  constructor() {
    this.died = new Promise((resolve) => {
      this.#die = resolve
    })
  }

  get alive(): boolean {
    return this.#alive
  }

  /** Guarded calls that have not answered yet; none once it is dead. */
  get pending(): number {
    return this.#alive ? this.#pending : 0
  }

  die(): void {
    this.#alive = false
    this.#die()
  }

  /** @param counts false for calls that wait for time to pass, so that nobody waits for them before moving it */
  async guard<Result>(call: () => Promise<Result>, counts = true): Promise<Result> {
    if (!this.#alive) return await never
    if (counts) this.#pending++
    try {
      const result = await call()
      return this.#alive ? result : await never
    } catch (error) {
      if (this.#alive) throw error
      return await never
    } finally {
      if (counts) this.#pending--
    }
  }
}

const never = new Promise<never>(() => {})
