import { fork } from 'node:child_process'
import { type Mutant, mutants } from './mutants.ts'

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

/**
 * Runs each mutant in a process of its own until it is caught.
 *
 * @param seeds tried after the mutant's own
 */
export async function runMutants(
  seeds: readonly number[],
  about: {
    readonly only?: readonly string[]
    readonly known?: boolean
    readonly atOnce?: number
    readonly tell?: (result: Result) => void
  } = {},
): Promise<Result[]> {
  const { only, known = true, atOnce = 2, tell = () => {} } = about
  const waiting = mutants.filter(({ name }) => only === undefined || only.includes(name))
  const results: Result[] = []
  const work = async () => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const result = await runOne(mutant, known ? [...mutant.seeds, ...seeds] : seeds)
      results.push(result)
      tell(result)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return results
}

/** Far longer than any takes: a mutant that makes a schedule go on for ever is not caught by it. */
const hangsMs = 600_000

function runOne(mutant: Mutant, seeds: readonly number[]): Promise<Result> {
  return new Promise((resolve) => {
    const child = fork(new URL('child.ts', import.meta.url), [mutant.name, seeds.join()], {
      execArgv: ['--conditions=counterfoil:source'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    let said: { caught: Caught | null } | undefined
    let error = ''
    const timer = setTimeout(() => child.kill('SIGKILL'), hangsMs)
    child.on('message', (message: { caught: Caught | null }) => {
      said = message
    })
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      error = `${error}${text}`.slice(-2_000)
    })
    child.on('close', () => {
      clearTimeout(timer)
      const why = said === undefined ? error || 'it was ended: it did not come to an end' : null
      resolve({ mutant, caught: said?.caught ?? null, error: why })
    })
  })
}
