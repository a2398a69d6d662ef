/**
 * Protocol bugs, switched on one at a time: `npm run mutants [-- NAME …]`, `-- --fresh` without the seeds that are known
 * to catch them, `-- --seeds 2000` for more schedules. Prints which schedule caught each, and by which invariant.
 */
import { parseArgs } from 'node:util'
import { runMutants } from '../test/mutants/run.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    fresh: { type: 'boolean', default: false },
    seeds: { type: 'string', default: '1000' },
    workers: { type: 'string', default: '2' },
  },
})
const seeds = Array.from({ length: Number(values.seeds) }, (_, seed) => seed)
const results = await runMutants(seeds, {
  known: !values.fresh,
  atOnce: Number(values.workers),
  ...(positionals.length === 0 ? {} : { only: positionals }),
  tell: ({ mutant, caught, error }) => {
    const how =
      caught === null
        ? `LIVES ${error ?? ''}`
        : `schedule ${caught.schedules}, seed ${caught.seed}: ${caught.broken.join(' ')}`
    process.stdout.write(`| ${mutant.name} | ${how} |\n`)
  },
})
const alive = results.filter(({ caught }) => caught === null)
process.stdout.write(`${results.length - alive.length} of ${results.length} caught\n`)
process.exitCode = alive.length === 0 ? 0 : 1
