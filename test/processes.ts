import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Store } from 'counterfoil'
import { freePort } from '../packages/counterfoil/src/testing/free-port.ts'

const root = join(import.meta.dirname, '..')
const launcher = join(root, 'packages/counterfoil/bin/counterfoil.js')

export interface ProcessesOptions {
  /** Default: the demo's. */
  readonly config?: string
  readonly environment?: Readonly<Record<string, string>>
}

/** A server process of its own on the records that others use too. */
export interface Another {
  readonly child: ChildProcess
  readonly url: string
}

/** Where the program keeps its records: each world that is started finds them empty. */
export interface Place {
  environment(): Readonly<Record<string, string>>
  /** The same records, for the test to look at. */
  store(processes: DemoProcesses): Store
}

/** Real server processes on the demo's configuration or another, and the demo's recipient, in a directory of their own. */
export class DemoProcesses {
  readonly directory = mkdtempSync(join(tmpdir(), 'counterfoil-processes-'))
  readonly #others = new Set<ChildProcess>()
  url = ''
  /** What the processes that start from now on find in their environment beside the rest. */
  readonly environment: Record<string, string>
  readonly #config: string
  #port = 0
  #recipientPort = 0
  #server: ChildProcess | undefined
  #recipient: ChildProcess | undefined

  constructor({ config, environment = {} }: ProcessesOptions = {}) {
    this.#config = config ?? join(root, 'demo/counterfoil.config.ts')
    this.environment = { ...environment }
  }

  get recipientUrl(): string {
    return `http://127.0.0.1:${this.#recipientPort}`
  }

  get server(): ChildProcess {
    if (this.#server === undefined) throw new Error('the server is not running')
    return this.#server
  }

  get runs(): boolean {
    return this.#server?.exitCode === null && this.#server.signalCode === null
  }

  async startRecipient(): Promise<void> {
    this.#recipientPort = await freePort()
    const program = join(root, 'demo/recipient.ts')
    this.#recipient = spawn(
      process.execPath,
      [program, '--port', String(this.#recipientPort), '--dir', this.directory],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    await this.#ready(this.#recipient, () => fetch(`${this.recipientUrl}/acts`))
  }

  /** The same port each time, as a restarted service has. */
  async startServer(): Promise<void> {
    this.#port ||= await freePort()
    this.url = `http://127.0.0.1:${this.#port}`
    this.#server = undefined
    this.#server = await this.#serve(this.#port)
  }

  /** Another process on the same records. */
  async startAnother(): Promise<Another> {
    const port = await freePort()
    const child = await this.#serve(port)
    this.#others.add(child)
    return { child, url: `http://127.0.0.1:${port}` }
  }

  async #serve(port: number): Promise<ChildProcess> {
    const child = spawn(
      process.execPath,
      [launcher, 'serve', '--config', this.#config, '--port', String(port)],
      {
        env: this.#environment(),
        stdio: ['ignore', 'ignore', process.env.SHOW_SERVER === undefined ? 'ignore' : 'inherit'],
      },
    )
    await this.#ready(child, async () => {
      const response = await fetch(`http://127.0.0.1:${port}/readyz`)
      if (!response.ok) throw new Error('not ready')
    })
    return child
  }

  async killServer(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    await end(this.#server, signal)
    this.#server = undefined
  }

  /** Runs a command of the command line with `--json` on the same store. */
  async counterfoil<Result>(...parameters: string[]): Promise<Result> {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [launcher, ...parameters, '--config', this.#config, '--json'],
      {
        env: this.#environment(),
        maxBuffer: 256e6,
      },
    )
    return JSON.parse(stdout) as Result
  }

  /** Begins a command of the command line, to be killed. */
  begin(...parameters: string[]): ChildProcess {
    const all = [launcher, ...parameters, '--config', this.#config, '--json']
    return spawn(process.execPath, all, { env: this.#environment(), stdio: 'ignore' })
  }

  /** How often the recipient acted, by its own count, for each key. */
  async acts(): Promise<Record<string, number>> {
    const response = await fetch(`${this.recipientUrl}/acts`)
    return ((await response.json()) as { byKey: Record<string, number> }).byKey
  }

  async control(what: Record<string, number>): Promise<void> {
    await fetch(`${this.recipientUrl}/control`, { method: 'POST', body: JSON.stringify(what) })
  }

  async dispose(): Promise<void> {
    await end(this.#server, 'SIGKILL')
    for (const other of this.#others) await end(other, 'SIGKILL')
    await end(this.#recipient, 'SIGKILL')
    rmSync(this.directory, { recursive: true, force: true })
  }

  #environment(): NodeJS.ProcessEnv {
    return {
      ...process.env,
      COUNTERFOIL_DEMO_DIR: this.directory,
      COUNTERFOIL_DEMO_RECIPIENT: this.recipientUrl,
      ...this.environment,
    }
  }

  async #ready(child: ChildProcess, probe: () => Promise<unknown>): Promise<void> {
    for (let tries = 0; tries < 600; tries++) {
      const ended = child.exitCode ?? child.signalCode
      if (ended !== null) throw new Error(`the process ended with ${ended}`)
      const up = await probe().then(
        () => true,
        () => false,
      )
      if (up) return
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    throw new Error('the process did not become ready in 30 s')
  }
}

/** Waits for it. */
export async function end(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  await ended
}

/** A GitHub delivery as GitHub signs it. */
export function github(
  type: string,
  id: string,
  payload: unknown,
  secret = "It's a Secret to Everybody",
): RequestInit {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload)
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-github-event': type,
      'x-github-delivery': id,
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    },
    body,
  }
}
