import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

const follow = pathToFileURL(join(import.meta.dirname, 'follow-parent.ts')).href
const readyWithinMs = 30_000
const stopWithinMs = 15_000

/** A process of the demo. It ends with this one, even when this one is killed. */
export class Child {
  readonly what: string
  readonly #process: ChildProcess
  readonly #log: string | undefined
  /** Fulfils with the exit code; a signal counts as 1. */
  readonly ended: Promise<number>

  /** @param log where its output goes; else it shares ours */
  constructor(
    what: string,
    parameters: readonly string[],
    about: { readonly env: NodeJS.ProcessEnv; readonly log?: string },
  ) {
    this.what = what
    this.#log = about.log
    const file = about.log === undefined ? undefined : openSync(about.log, 'a')
    const output = file ?? 'inherit'
    this.#process = spawn(process.execPath, ['--import', follow, ...parameters], {
      // A group of its own: Ctrl-C reaches only the parent, which stops its children in order.
      detached: true,
      stdio: ['ignore', output, output, 'ipc'],
      env: about.env,
    })
    if (file !== undefined) closeSync(file)
    this.ended = new Promise((resolve) => this.#process.once('exit', (code) => resolve(code ?? 1)))
  }

  get running(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null
  }

  /** @throws Error with the end of its log when it ends instead, or takes too long */
  async ready(url: string): Promise<void> {
    const deadline = Date.now() + readyWithinMs
    while (this.running && Date.now() < deadline) {
      const isUp = await fetch(url).then(
        ({ ok }) => ok,
        () => false,
      )
      if (isUp && this.running) return
      await pause(50)
    }
    const why = this.running ? `was not ready within ${readyWithinMs / 1000} s` : 'ended while starting'
    throw new Error(`${this.what} ${why}.${this.#lastWords()}`)
  }

  /** Asks it to stop, and drains what it has in work. */
  async stop(): Promise<void> {
    if (!this.running) return
    this.#process.kill('SIGTERM')
    const late = pause(stopWithinMs, 'late', { ref: false })
    if ((await Promise.race([this.ended, late])) === 'late') this.kill()
    await this.ended
  }

  kill(): void {
    if (this.running) this.#process.kill('SIGKILL')
  }

  #lastWords(): string {
    if (this.#log === undefined) return ''
    const lines = readFileSync(this.#log, 'utf8').trimEnd().split('\n').slice(-8)
    return `\n${basename(this.#log)} ends with:\n${lines.map((text) => `  ${text}`).join('\n')}`
  }
}
