/**
 * Runs schedules of faults by seed: `npm run simulate -- --seeds 1000000 [--from N] [--workers 2] [--progress FILE] [--json]`,
 * or one seed with its story: `npm run simulate -- --seed N`. With `--progress` a run that was killed goes on where it was.
 * Speeds are of processor time, because machines are shared.
 */
import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { parseArgs } from 'node:util'
import { shrink, simulate, Tally } from 'counterfoil/testing'
import { Progress, type Range, type Report } from './simulate-progress.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '2000' },
    from: { type: 'string', default: '0' },
    seed: { type: 'string' },
    workers: { type: 'string', default: '2' },
    progress: { type: 'string' },
    /** Seeds that a process runs before it tells what it has. */
    portion: { type: 'string', default: '200' },
    json: { type: 'boolean', default: false },
  },
})

/**
 * Nearly all that a schedule makes is gone when it ends: collected young, it costs next to nothing. Errors are what is simulated,
 * and nobody reads where they came from: a failing seed is told again by a call of its own.
 */
const cheaply = ['--max-semi-space-size=64', '--min-semi-space-size=64', '--stack-trace-limit=0']

if (process.send !== undefined) process.on('message', (range: Range) => void runRange(...range))
else if (values.seed !== undefined) process.exitCode = await tellSeed(Number(values.seed))
else process.exitCode = await runMany()

async function runRange(from: number, to: number): Promise<void> {
  const before = process.cpuUsage()
  const tally = new Tally()
  const failed: number[] = []
  for (let seed = from; seed < to; seed++) {
    // Whom it would be told to is gone.
    if (!process.connected) return
    const simulated = await simulate(seed)
    tally.add(simulated)
    if (simulated.violations.length > 0) failed.push(seed)
  }
  const { user, system } = process.cpuUsage(before)
  process.send?.({ tally: tally.toJSON(), cpuMs: (user + system) / 1000, failed } satisfies Report)
}

/** The whole story of a seed, and if it fails, the shortest that still does. */
async function tellSeed(seed: number): Promise<number> {
  const simulated = await simulate(seed)
  const shrunk = await shrink(seed)
  const { violations } = simulated
  const told = shrunk?.simulated ?? simulated
  if (values.json) {
    const about = {
      seed,
      violations,
      faults: told.faults,
      shapes: told.shapes,
      story: told.story().split('\n'),
    }
    print(JSON.stringify(about, null, 2))
  } else {
    print(told.story())
    if (shrunk !== null) {
      const { faults, history } = shrunk.simulated
      print(
        `\nShrunk from ${simulated.faults.length} faults to ${faults.length} and to ${history.deliveries.length} deliveries, in ${shrunk.runs} runs.`,
      )
    }
  }
  return violations.length === 0 ? 0 : 1
}

async function runMany(): Promise<number> {
  const { progress: file } = values
  const progress = new Progress({ from: Number(values.from), revision: revision(), file })
  const end = progress.from + Number(values.seeds)
  const began = Date.now()
  await Promise.all(Array.from({ length: Number(values.workers) }, () => runWorker(progress, end, began)))
  summary(progress)
  return progress.failed.length === 0 ? 0 : 1
}

/** One process, range after range until none is left. */
function runWorker(progress: Progress, end: number, began: number): Promise<void> {
  const child = fork(import.meta.filename, [], { execArgv: [...process.execArgv, ...cheaply] })
  let range: Range | undefined
  const give = (to: ChildProcess) => {
    range = progress.take(end, Number(values.portion))
    if (range === undefined) to.disconnect()
    else to.send(range)
  }
  child.on('message', (report: Report) => {
    progress.done(range!, report)
    if (!values.json) print(lineOf(progress, began))
    give(child)
  })
  give(child)
  return new Promise<void>((resolve, reject) => {
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`a process ended with ${code}`))))
  })
}

function revision(): string | null {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim()
  } catch {
    return null
  }
}

function lineOf(progress: Progress, began: number): string {
  const { failed } = progress
  const seconds = ((Date.now() - began) / 1000).toFixed(0)
  const named = failed.length === 0 ? '' : `: ${failed.slice(0, 20).join(', ')}`
  return `${progress.total.schedules} schedules, ${seconds} s, ${speedOf(progress)}, ${failed.length} failed${named}`
}

function speedOf({ total: { schedules, faults }, cpuMs }: Progress): string {
  const perCoreSecond = ((schedules * 1000) / cpuMs).toFixed(0)
  return `${perCoreSecond} a second of one core, ${(faults / schedules).toFixed(1)} faults each`
}

function summary(progress: Progress): void {
  const { from, total, cpuMs, failed, sittings } = progress
  const { schedules, faults, steps, byFault, byShape, byInvariant } = total
  if (values.json) {
    const counts = {
      faults: Object.fromEntries(byFault),
      shapes: Object.fromEntries(byShape),
      invariants: Object.fromEntries(byInvariant),
    }
    const perCoreSecond = Math.round((schedules * 1000) / cpuMs)
    print(
      JSON.stringify({ from, schedules, faults, steps, perCoreSecond, failed, counts, sittings }, null, 2),
    )
    return
  }
  const table = (title: string, counts: ReadonlyMap<string, number>) => {
    print(`\n${title}`)
    for (const [name, times] of [...counts].sort((a, b) => b[1] - a[1]))
      print(`  ${String(times).padStart(10)}  ${name}`)
  }
  table('Faults that struck', byFault)
  table('Recipients by the shape of their contract', byShape)
  table('What each invariant was held against', byInvariant)
  print(`\nSeeds ${from} to ${from + schedules - 1}: ${failed.length} failed; ${speedOf(progress)}.`)
  for (const seed of failed.slice(0, 20)) print(`  npm run simulate -- --seed ${seed}`)
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
