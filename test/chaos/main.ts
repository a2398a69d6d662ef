/**
 * Real processes, real sockets and real faults, by seed: `npm run chaos -- KIND`.
 *
 *     npm run chaos -- kill --store postgres --times 60 --every 1000
 *
 * Exits with 0 when nothing was broken, 1 when something was, 2 for bad use.
 */
import { parseArgs } from 'node:util'
import { missing } from '../../packages/counterfoil/src/store/postgres/fixtures/binaries.ts'
import { type EpisodeReport, episode } from './episode.ts'
import type { Kind, StoreKind } from './kind.ts'
import { kinds } from './kinds/index.ts'
import { type Plant, plants } from './planted.ts'

const usage = `Usage: npm run chaos -- KIND|all [--times N] [--seed S] [--store sqlite|postgres] [--servers N]
                          [--every MS] [--plant FAULT] [--json]

${kinds.map(({ name, about, full, unit, stores }) => `  ${name.padEnd(10)} ${about}; ${full} ${unit} at full length; ${stores.join(', ')}`).join('\n')}

--plant builds a fault into the servers, which the run must find:
${Object.entries(plants)
  .map(([name, about]) => `  ${name.padEnd(26)} ${about}`)
  .join('\n')}
`

interface Flags {
  readonly times?: string
  readonly seed?: string
  readonly store?: string
  readonly servers?: string
  readonly every?: string
  readonly plant?: string
  readonly json?: boolean
}

process.exitCode = await main(process.argv.slice(2))

async function main(words: string[]): Promise<number> {
  const texts = { times: {}, seed: {}, store: {}, servers: {}, every: {}, plant: {} }
  const options = Object.fromEntries(Object.keys(texts).map((name) => [name, { type: 'string' as const }]))
  let given: { values: Flags; positionals: string[] }
  try {
    const parsed = parseArgs({
      args: words,
      options: { ...options, json: { type: 'boolean' } },
      allowPositionals: true,
    })
    given = parsed as typeof given
  } catch (error) {
    return badUse((error as Error).message)
  }
  const { values, positionals } = given
  const [asked] = positionals
  const chosen = asked === 'all' ? kinds : kinds.filter(({ name }) => name === asked)
  if (chosen.length === 0) return badUse(asked === undefined ? '' : `There is no kind '${asked}'.`)
  if (values.plant !== undefined && !(values.plant in plants))
    return badUse(`There is no fault '${values.plant}'.`)
  for (const name of ['times', 'seed', 'servers', 'every'] as const) {
    if (values[name] !== undefined && !/^\d{1,9}$/.test(values[name]))
      return badUse(`--${name} is no whole number.`)
  }
  const runs = chosen.flatMap((kind) =>
    kind.stores
      .filter((store) => store === (values.store ?? (asked === 'all' ? store : kind.stores[0])))
      .map((store) => ({ kind, store })),
  )
  if (runs.length === 0) return badUse(`${asked} is not done on '${values.store}'.`)
  let code = 0
  for (const { kind, store } of runs) {
    const why = (store === 'postgres' ? missing(18) : undefined) ?? kind.missing?.(store)
    if (why !== undefined) return badUse(`${kind.name} on ${store}: this machine cannot: ${why}.`)
    code = Math.max(code, await run(kind, store, values))
  }
  return code
}

async function run(kind: Kind, store: StoreKind, flags: Flags): Promise<number> {
  const times = Number(flags.times ?? kind.full)
  const seed = Number(flags.seed ?? Date.now() % 1_000_000)
  const begun = performance.now()
  const reports: EpisodeReport[] = []
  const total = (of: (report: EpisodeReport) => number) =>
    reports.reduce((sum, report) => sum + of(report), 0)
  for (let done = 0; done < times; ) {
    const number = reports.length
    const report = await episode(kind, {
      store,
      // An episode alone: `--seed` of its report and `--times` of it.
      seed: seed + number,
      times: Math.min(kind.episode, times - done),
      plant: flags.plant as Plant | undefined,
      everyMs: flags.every === undefined ? undefined : Number(flags.every),
      servers: flags.servers === undefined ? undefined : Number(flags.servers),
      onStrike: (struck) =>
        process.stderr.write(
          `\r${kind.name} on ${store}, seed ${seed}: ${done + struck} of ${times} ${kind.unit} `,
        ),
    })
    reports.push(report)
    done += report.strikes
    for (const violation of report.violations.slice(0, 10))
      process.stderr.write(
        `\nBROKEN in episode ${number + 1} (seed ${report.seed}, ${report.strikes} ${kind.unit}): ${violation}`,
      )
  }
  process.stderr.write('\n')
  const result = {
    kind: kind.name,
    store,
    seed,
    [kind.unit]: total(({ strikes }) => strikes),
    episodes: reports.length,
    deliveries: total(({ deliveries }) => deliveries),
    refused: total(({ refused }) => refused),
    acknowledged: total(({ acknowledged }) => acknowledged),
    requests: total(({ arrivals }) => arrivals),
    acts: total(({ acts }) => acts),
    starts: total(({ starts }) => starts),
    violations: reports.flatMap(({ violations }) => violations),
    seconds: Math.round((performance.now() - begun) / 1000),
    plant: flags.plant ?? null,
  }
  if (flags.json === true) process.stdout.write(`${JSON.stringify(result, null, 2)}\n`)
  else
    for (const [name, value] of Object.entries(result)) {
      if (name !== 'violations') process.stdout.write(`${name.padEnd(14)} ${value}\n`)
    }
  const broken = result.violations.length
  if (flags.json !== true)
    process.stdout.write(broken === 0 ? 'Nothing was broken.\n' : `BROKEN: ${broken} times.\n`)
  return broken === 0 ? 0 : 1
}

function badUse(why: string): number {
  process.stderr.write(`${why === '' ? '' : `${why}\n\n`}${usage}`)
  return 2
}
