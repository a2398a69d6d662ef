import { type ChildProcess, fork } from 'node:child_process'
import type { Mutant } from './mutants.ts'

export interface Caught {
  readonly seed: number
  /** How many schedules it took. */
  readonly schedules: number
  readonly broken: readonly string[]
  /** The first violation, in words. */
  readonly says: string
}

export interface Result {
  readonly mutant: Mutant
  /** Null: it lives; `error` says why where it is not for want of schedules. */
  readonly caught: Caught | null
  readonly error: string | null
}

export interface Plan {
  readonly mutant: Mutant
  /** Schedules in the order in which they are played until one catches it. */
  readonly seeds: readonly number[]
}

type Said = Pick<Result, 'caught' | 'error'>

/** Plays all of it, some at once in processes that are used again. */
export async function runMutants(
  plans: readonly Plan[],
  {
    atOnce = 2,
    tell = () => {},
  }: { readonly atOnce?: number; readonly tell?: (result: Result) => void } = {},
): Promise<Result[]> {
  const waiting = [...plans]
  const results: Result[] = []
  const work = async () => {
    const player = new Player()
    for (let plan = waiting.shift(); plan !== undefined; plan = waiting.shift()) {
      const result = { mutant: plan.mutant, ...(await player.play(plan)) }
      results.push(result)
      tell(result)
    }
    player.end()
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return results
}

/** Far longer than any takes: a mutant that makes a schedule go on for ever is not caught by it. */
const hangsMs = 600_000

/** A process that plays mutants one after the other. One that a mutant ends is replaced for the next. */
class Player {
  #child: ChildProcess | undefined
  #errors = ''

  play({ mutant, seeds }: Plan): Promise<Said> {
    this.#child ??= this.#start()
    const child = this.#child
    this.#errors = ''
    return new Promise((resolve) => {
      const timer = setTimeout(() => child.kill('SIGKILL'), hangsMs)
      const settle = (said: Said) => {
        clearTimeout(timer)
        child.removeAllListeners('message').removeAllListeners('close')
        resolve(said)
      }
      child.on('message', (said: Said) => settle(said))
      child.on('close', () => {
        this.#child = undefined
        settle({ caught: null, error: this.#errors || 'it was ended: it did not come to an end' })
      })
      child.send({ name: mutant.name, seeds })
    })
  }

  end(): void {
    this.#child?.disconnect()
  }

  #start(): ChildProcess {
    const child = fork(new URL('child.ts', import.meta.url), {
      execArgv: ['--conditions=counterfoil:source', '--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#errors = `${this.#errors}${text}`.slice(-2_000)
    })
    return child
  }
}
