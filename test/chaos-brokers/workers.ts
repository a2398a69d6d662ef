import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Places } from '../fixtures/broker-program.ts'

const program = join(import.meta.dirname, '../fixtures/broker-program-main.ts')
/** Ends a process when the one that started it is gone, however it went. */
const follow = pathToFileURL(join(import.meta.dirname, '../../demo/follow-parent.ts')).href

/** Processes of the program between two places, each of which starts again when it ended. */
export class Workers {
  readonly #words: readonly string[]
  readonly #children: ChildProcess[] = []
  readonly #ready = new Set<ChildProcess>()
  #wanted = true
  starts = 0

  constructor(places: Places, url: string) {
    this.#words = [
      '--import',
      follow,
      '--conditions=counterfoil:source',
      program,
      JSON.stringify(places),
      url,
      'live',
    ]
  }

  /** Fulfils when all of them have started. */
  async start(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, (_, index) => this.#spawn(index)))
  }

  async kill(index: number): Promise<void> {
    const child = this.#children[index]!
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }

  get areReady(): boolean {
    return this.#children.every(
      (child) => this.#ready.has(child) && child.exitCode === null && child.signalCode === null,
    )
  }

  /** In order. @returns the exit codes */
  async stop(): Promise<(number | null)[]> {
    this.#wanted = false
    return await Promise.all(
      this.#children.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
        const ended = new Promise((resolve) => child.once('exit', resolve))
        child.kill('SIGTERM')
        await ended
        return child.exitCode
      }),
    )
  }

  #spawn(index: number): Promise<void> {
    const child = spawn(process.execPath, this.#words, {
      // One that finds no database ends and starts again: that is said often.
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      env: {
        ...process.env,
        COUNTERFOIL_VAULT_KEYS: `chaos:${Buffer.alloc(32, 'chaos').toString('base64')}`,
      },
    })
    this.#children[index] = child
    this.starts++
    child.once('exit', () => {
      if (this.#wanted) setTimeout(() => void this.#spawn(index), 300)
    })
    return new Promise((resolve) =>
      child.once('message', () => {
        this.#ready.add(child)
        resolve()
      }),
    )
  }
}
