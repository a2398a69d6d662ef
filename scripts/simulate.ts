/**
 * Runs schedules of faults by seed: `npm run simulate -- --seeds 1000000 [--from N] [--workers 2] [--json]`, or one seed
 * with its story: `npm run simulate -- --seed N`. Speeds are of processor time, because machines are shared.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { parseArgs } from 'node:util'
import { shrink, simulate, Tally, type TallyRecord } from 'counterfoil/testing'

/** Seeds that a process runs before it tells what it has. */
const portion = 500

interface Report {
  readonly tally: TallyRecord
  readonly cpuMs: number
  readonly failed: readonly number[]
}

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '2000' },
    from: { type: 'string', default: '0' },
    seed: { type: 'string' },
    workers: { type: 'string', default: '2' },
    json: { type: 'boolean', default: false },
  },
})

if (process.send !== undefined) process.on('message', (range: [number, number]) => void runRange(...range))
else if (values.seed !== undefined) process.exitCode = await tellSeed(Number(values.seed))
else process.exitCode = await runMany(Number(values.from), Number(values.seeds), Number(values.workers))

async function runRange(from: number, to: number): Promise<void> {
  const before = process.cpuUsage()
  const tally = new Tally()
  const failed: number[] = []
  for (let seed = from; seed < to; seed++) {
    const simulated = await simulate(seed)
    tally.add(simulated)
    if (simulated.violations.length > 0) failed.push(seed)
  }
  const { user, system } = process.cpuUsage(before)
  process.send!({ tally: tally.toJSON(), cpuMs: (user + system) / 1000, failed } satisfies Report)
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

async function runMany(from: number, seeds: number, workers: number): Promise<number> {
  const total = new Tally()
  const failed: number[] = []
  const began = Date.now()
  let cpuMs = 0
  let next = from
  const give = (child: ChildProcess) => {
    if (next >= from + seeds) {
      child.disconnect()
      return
    }
    const to = Math.min(next + portion, from + seeds)
    child.send([next, to])
    next = to
  }
  await Promise.all(
    Array.from({ length: workers }, () => {
      const child = fork(import.meta.filename, [], { execArgv: process.execArgv })
      child.on('message', (report: Report) => {
        total.merge(report.tally)
        cpuMs += report.cpuMs
        failed.push(...report.failed)
        if (!values.json) print(progress(total, cpuMs, began, failed))
        give(child)
      })
      give(child)
      return new Promise<void>((resolve, reject) => {
        child.on('exit', (code) =>
          code === 0 ? resolve() : reject(new Error(`a process ended with ${code}`)),
        )
      })
    }),
  )
  summary(total, cpuMs, from, failed)
  return failed.length === 0 ? 0 : 1
}

function progress(
  { schedules, faults }: Tally,
  cpuMs: number,
  began: number,
  failed: readonly number[],
): string {
  const speed = ((schedules * 1000) / cpuMs).toFixed(0)
  const seconds = ((Date.now() - began) / 1000).toFixed(0)
  return `${schedules} schedules in ${seconds} s, ${speed} a second of one core, ${(faults / schedules).toFixed(1)} faults each, ${failed.length} failed${failed.length === 0 ? '' : `: ${failed.slice(0, 20).join(', ')}`}`
}

function summary(total: Tally, cpuMs: number, from: number, failed: readonly number[]): void {
  const { schedules, faults, steps, byFault, byShape, byInvariant } = total
  const perCoreSecond = Math.round((schedules * 1000) / cpuMs)
  if (values.json) {
    const counts = {
      faults: Object.fromEntries(byFault),
      shapes: Object.fromEntries(byShape),
      invariants: Object.fromEntries(byInvariant),
    }
    print(JSON.stringify({ from, schedules, faults, steps, perCoreSecond, failed, counts }, null, 2))
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
  print(
    `\nSeeds ${from} to ${from + schedules - 1}: ${failed.length} failed; ${(faults / schedules).toFixed(1)} faults a schedule; ${perCoreSecond} schedules a second of one core.`,
  )
  for (const seed of failed.slice(0, 20)) print(`  npm run simulate -- --seed ${seed}`)
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
