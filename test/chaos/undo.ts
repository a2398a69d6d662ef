/**
 * What has to be undone, the last first: processes, mounts and networks outlive the process that made them. It is
 * done when a signal ends the run, too.
 */
export class Undo {
  readonly #steps: (() => unknown)[] = []
  readonly #interrupted = (signal: NodeJS.Signals) => {
    process.stderr.write(`\n${signal}: cleaning up\n`)
    void this.all().finally(() => process.exit(1))
  }

  constructor() {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, this.#interrupted)
  }

  readonly defer = (step: () => unknown): void => {
    this.#steps.push(step)
  }

  /** Each, also when one before it fails. */
  async all(): Promise<void> {
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      try {
        await step()
      } catch (error) {
        process.stderr.write(`\nNot cleaned up: ${error}\n`)
      }
    }
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, this.#interrupted)
  }
}
