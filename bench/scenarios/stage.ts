/** What a situation has at hand: a recipient and the processes of one system, real ones that can be paused and killed. */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Act } from './recipient.ts'
import type { Event, Place, Promises, Setting, System, SystemRecord } from './system.ts'
import type { Order, Question, Said } from './worker.ts'

/** Nothing open and no new act for this long: it is over. */
const quietMs = 1_200
const lookEveryMs = 400
const compileCache = join(tmpdir(), 'counterfoil-scenarios-compiled')
const deliveryTries = 5
const died = 'the process died'
/** How often a supervisor of processes starts one anew that died. */
const restarts = 6

export class Stage {
  readonly system: System
  readonly answers: string[] = []
  readonly #place: Place
  readonly #setting: Setting
  readonly #recipient: ChildProcess
  readonly #directory: string
  readonly #workers = new Set<Worker>()

  private constructor(
    system: System,
    place: Place,
    setting: Setting,
    recipient: ChildProcess,
    directory: string,
  ) {
    this.system = system
    this.#place = place
    this.#setting = setting
    this.#recipient = recipient
    this.#directory = directory
  }

  static async set(system: System, setting: Omit<Setting, 'recipient'>): Promise<Stage> {
    const directory = mkdtempSync(join(tmpdir(), 'counterfoil-recipient-'))
    const [recipient, url] = await startRecipient(setting.promises, join(directory, 'acts.jsonl'))
    return new Stage(
      system,
      await system.place(setting),
      { ...setting, recipient: url },
      recipient,
      directory,
    )
  }

  /** A process of the system. @param as its name; what replaces a process has the name of that one */
  async start(as = 'worker-1', { waits = false } = {}): Promise<Worker> {
    const worker = this.#spawn(as, waits)
    await worker.ready
    return worker
  }

  #spawn(as = 'worker-1', waits = false): Worker {
    const order = { system: this.system.name, setting: this.#setting, at: this.#place.at, as, waits }
    const worker = new Worker(order)
    this.#workers.add(worker)
    return worker
  }

  /** In place of one that was killed, with what the documentation asks of those who run it. */
  async replace(): Promise<Worker> {
    const worker = await this.start()
    await worker.ask('afterDeath')
    return worker
  }

  /** Starts one, and starts it anew whenever it dies, as whatever runs servers does. */
  async supervise(): Promise<void> {
    const first = await this.start()
    void (async () => {
      for (let worker = first, left = restarts; left > 0; left--) {
        await worker.ended
        if (!this.#workers.has(worker)) return
        worker = this.#spawn()
        // It may die while it starts, and is started anew then too.
        await worker.ready.then(() => worker.ask('afterDeath')).catch(() => {})
      }
    })()
  }

  /** Hands an event over to a living process, as a producer does: again when that dies meanwhile. Keeps the answer. */
  async deliver(event: Event): Promise<void> {
    let answer = ''
    for (let tries = 0; tries < deliveryTries && (tries === 0 || answer.endsWith(died)); tries++) {
      answer = await this.#living().then(
        (worker) => this.deliverTo(worker, event),
        (error: Error) => `error: ${error.message}`,
      )
    }
    this.answers.push(answer)
  }

  async deliverTo(worker: Worker, event: Event): Promise<string> {
    return await worker.ask<string>('deliver', event).catch((error: Error) => `error: ${error.message}`)
  }

  async act(next: 'lose' | 'hold'): Promise<void> {
    await fetch(`${this.#setting.recipient}/next/${next}`, { method: 'POST' })
  }

  async acts(): Promise<Act[]> {
    const response = await fetch(`${this.#setting.recipient}/acts`)
    return (await response.json()) as Act[]
  }

  async untilActed(): Promise<void> {
    while ((await this.acts()).length === 0) await sleep(20)
  }

  async records(): Promise<readonly SystemRecord[]> {
    return await (await this.#living()).ask<readonly SystemRecord[]>('records')
  }

  /** At the end, when perhaps no process stays alive. */
  async lastRecords(): Promise<readonly SystemRecord[]> {
    try {
      return await this.records()
    } catch (error) {
      const { look } = this.system
      if (look === undefined) throw error
      for (const worker of this.#workers) await worker.kill()
      const records = await look(this.#setting, this.#place.at)
      return [{ says: 'open', words: 'no process stays alive', holds: '' }, ...records]
    }
  }

  /** Until nothing is going to happen any more by itself, or the time is up. */
  async settle(withinMs = 60_000): Promise<void> {
    const deadline = Date.now() + withinMs
    let quietSince = Date.now()
    let acts = -1
    while (Date.now() < deadline && Date.now() - quietSince < quietMs) {
      await sleep(lookEveryMs)
      // A process that dies while it is asked is one more thing that happens.
      const records = await this.records().catch(() => null)
      const now = (await this.acts()).length
      if (records === null || records.some(({ says }) => says === 'open') || now !== acts)
        quietSince = Date.now()
      acts = now
    }
  }

  async dispose(): Promise<void> {
    const workers = [...this.#workers]
    this.#workers.clear()
    for (const worker of workers) await worker.kill()
    await this.#place.drop()
    this.#recipient.disconnect()
    await once(this.#recipient, 'exit')
    rmSync(this.#directory, { recursive: true })
  }

  async #living(): Promise<Worker> {
    for (let tries = 0; tries < 600; tries++) {
      for (const worker of this.#workers) if (worker.answers) return worker
      await sleep(50)
    }
    throw new Error('no process of the system is alive')
  }
}

export class Worker {
  readonly ready: Promise<void>
  /** It waits before its first call. */
  readonly aboutToCall: Promise<void>
  readonly ended: Promise<unknown>
  readonly #process: ChildProcess
  readonly #asked = new Map<number, PromiseWithResolvers<unknown>>()
  #isReady = false
  #isPaused = false

  constructor(order: Order) {
    this.#process = fork(join(import.meta.dirname, 'worker.ts'), [JSON.stringify(order)], {
      execArgv: ['--conditions=counterfoil:source', '--disable-warning=DeprecationWarning'],
      // Each of many short processes would compile the same files anew.
      env: { NODE_COMPILE_CACHE: compileCache, ...process.env },
      stdio: ['ignore', process.env.SCENARIOS_SHOW === undefined ? 'ignore' : 'inherit', 'inherit', 'ipc'],
    })
    const ready = Promise.withResolvers<void>()
    const aboutToCall = Promise.withResolvers<void>()
    this.ready = ready.promise
    this.aboutToCall = aboutToCall.promise
    this.ended = once(this.#process, 'exit').then(() => {
      this.#isReady = false
      ready.reject(new Error('the process ended while it started'))
      for (const { reject } of this.#asked.values()) reject(new Error(died))
    })
    // One that is started to die while it starts is seen by its end.
    this.ready.catch(() => {})
    this.#process.on('message', (said: Said) => {
      if (said.kind === 'ready') this.#isReady = true
      if (said.kind === 'ready') ready.resolve()
      if (said.kind === 'about to call') aboutToCall.resolve()
      if (said.kind !== 'answer') return
      const asked = this.#asked.get(said.id)
      this.#asked.delete(said.id)
      if (said.error === undefined) asked?.resolve(said.value)
      else asked?.reject(new Error(said.error))
    })
  }

  get answers(): boolean {
    return this.#isReady && !this.#isPaused
  }

  async ask<Answer>(ask: 'deliver', event: Event): Promise<Answer>
  async ask<Answer>(ask: Exclude<Question['ask'], 'deliver'>): Promise<Answer>
  async ask<Answer>(ask: Question['ask'], event?: Event): Promise<Answer> {
    const id = Math.random()
    const answer = Promise.withResolvers<unknown>()
    this.#asked.set(id, answer)
    // Its end, if it has ended already, was told before it was asked.
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) answer.reject(new Error(died))
    else this.#process.send({ id, ask, event }, () => {})
    return (await answer.promise) as Answer
  }

  pause(): void {
    this.#process.kill('SIGSTOP')
    this.#isPaused = true
  }

  goOn(): void {
    this.#process.send('go on')
    this.#process.kill('SIGCONT')
    this.#isPaused = false
  }

  async kill(): Promise<void> {
    this.#process.kill('SIGKILL')
    await this.ended
  }
}

async function startRecipient(promises: Promises, journal: string): Promise<[ChildProcess, string]> {
  const recipient = spawn(
    process.execPath,
    [join(import.meta.dirname, 'recipient.ts'), JSON.stringify(promises), journal],
    { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] },
  )
  const [line] = (await once(recipient.stdout!, 'data')) as [Buffer]
  return [recipient, line.toString().trim()]
}
