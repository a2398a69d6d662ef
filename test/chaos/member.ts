import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { end } from '../processes.ts'

/** Ends a process when the one that started it is gone, however it went. */
const follow = pathToFileURL(join(import.meta.dirname, '../../demo/follow-parent.ts')).href
const readyWithinMs = 600_000

export interface MemberOptions {
  readonly name: string
  readonly url: string
  /** Answers 2xx once it is ready. */
  readonly probe: string
  readonly log: string
  /** Program and parameters for Node. */
  readonly parameters: readonly string[]
  readonly environment: () => Readonly<Record<string, string>>
  /** Runs it, as `ip netns exec NAME` does. */
  readonly under?: readonly string[]
}

/** A process that a supervisor keeps up: it starts again at the same address when it was killed or ended. */
export class Member {
  readonly name: string
  readonly url: string
  readonly #options: MemberOptions
  #child: ChildProcess | undefined
  #up: Promise<void> | undefined
  #wanted = false
  ready = false
  starts = 0
  /** Ends that nobody asked for, after it was ready. */
  readonly surprises: string[] = []

  constructor(options: MemberOptions) {
    this.name = options.name
    this.url = options.url
    this.#options = options
  }

  get pid(): number | undefined {
    const child = this.#child
    return child !== undefined && child.exitCode === null && child.signalCode === null ? child.pid : undefined
  }

  /** Keeps it up from now on; fulfils when it is ready, after however many tries. */
  start(): Promise<void> {
    this.#wanted = true
    this.#up ??= this.#bringUp().finally(() => {
      this.#up = undefined
    })
    return this.#up
  }

  /** Kills it, and starts it again without waiting for it. */
  async kill(): Promise<void> {
    this.#wanted = false
    this.ready = false
    await end(this.#child, 'SIGKILL')
    this.#startAgain()
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(signal)
  }

  /** Stops it for good. @returns its exit code; null when a signal ended it */
  async stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    this.#wanted = false
    this.ready = false
    const child = this.#child
    const asked = end(child, signal)
    const late = sleep(30_000, undefined, { ref: false }).then(() => void child?.kill('SIGKILL'))
    await Promise.race([asked, late.then(() => asked)])
    return child?.exitCode ?? null
  }

  said(): string {
    try {
      return readFileSync(this.#options.log, 'utf8')
    } catch {
      return ''
    }
  }

  async #bringUp(): Promise<void> {
    const until = Date.now() + readyWithinMs
    while (this.#wanted) {
      if (this.pid === undefined) this.#spawn()
      if (await this.#answers()) {
        this.ready = this.pid !== undefined
        if (this.ready) return
      }
      if (Date.now() > until)
        throw new Error(`${this.name} does not become ready.\n${this.said().slice(-2_000)}`)
      await sleep(this.pid === undefined ? 200 : 25)
    }
  }

  async #answers(): Promise<boolean> {
    const signal = AbortSignal.timeout(2_000)
    return await fetch(`${this.url}${this.#options.probe}`, { signal }).then(
      async (response) => {
        await response.arrayBuffer()
        return response.ok
      },
      () => false,
    )
  }

  #spawn(): void {
    const { under = [], parameters, log, environment, name } = this.#options
    const [program, ...rest] = [...under, process.execPath, '--import', follow, ...parameters]
    const output = openSync(log, 'a')
    const child = spawn(program!, rest, {
      stdio: ['ignore', output, output, 'ipc'],
      env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...environment() },
    })
    closeSync(output)
    this.starts++
    this.#child = child
    child.on('error', () => {})
    child.once('exit', (code, signal) => {
      if (this.#child !== child) return
      const was = this.ready
      this.ready = false
      if (!this.#wanted) return
      if (was) this.surprises.push(`${name} ended by itself with ${code ?? signal}`)
      this.#startAgain()
    })
  }

  #startAgain(): void {
    this.start().catch((error: Error) => this.surprises.push(error.message))
  }
}
