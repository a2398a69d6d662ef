/**
 * Protocol bugs, switched on one at a time: `npm run mutants [-- NAME …]`. Each is played with the seed that is known to
 * catch it (`test/mutants/seeds.json`), then from seed 0 on. `-- --fresh` starts at seed 0, `--seeds 2000` plays more, `--write` records
 * the seeds that caught. Prints which schedule caught each, and by which invariant; exits with 1 when one lives.
 */
import { parseArgs } from 'node:util'
import { mutants } from '../test/mutants/mutants.ts'
import { runMutants } from '../test/mutants/run.ts'
import { knownSeeds, recordSeeds } from '../test/mutants/seeds.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    fresh: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    seeds: { type: 'string', default: '500' },
    from: { type: 'string', default: '0' },
    workers: { type: 'string', default: '2' },
  },
})
const known = values.fresh ? {} : knownSeeds()
const scanned = Array.from({ length: Number(values.seeds) }, (_, nth) => Number(values.from) + nth)
const plans = mutants
  .filter(({ name }) => positionals.length === 0 || positionals.includes(name))
  .map((mutant) => ({ mutant, seeds: [known[mutant.name] ?? [], scanned].flat() }))
const results = await runMutants(plans, {
  atOnce: Number(values.workers),
  tell: ({ mutant, caught, error }) => {
    const how =
      caught === null
        ? `LIVES ${error ?? ''}`
        : `schedule ${caught.schedules}, seed ${caught.seed}: ${caught.broken.join(' ')}`
    process.stdout.write(`| ${mutant.name} | ${how} |\n`)
  },
})
if (values.write) recordSeeds(results)
const alive = results.filter(({ caught }) => caught === null)
process.stdout.write(`${results.length - alive.length} of ${results.length} caught\n`)
process.exitCode = alive.length === 0 ? 0 : 1
