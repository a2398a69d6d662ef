/** Switches one mutant on in what this process loads, then runs schedules until an invariant is broken; tells its parent. */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { mutants } from './mutants.ts'
import { mutated, sourceUrl } from './source.ts'

const [name, seedList = ''] = process.argv.slice(2)
const mutant = mutants.find((one) => one.name === name)
if (mutant === undefined) throw new Error(`there is no mutant '${name}'`)
const url = sourceUrl(mutant)
const source = mutated(mutant, readFileSync(url, 'utf8'))
let loaded = false
registerHooks({
  load(asked, context, next) {
    if (asked !== url.href) return next(asked, context)
    loaded = true
    return { format: 'module-typescript', source, shortCircuit: true }
  },
})

const { simulate } = await import('counterfoil/testing')
if (!loaded) throw new Error(`${mutant.file} is not part of what the simulator runs`)
let schedules = 0
for (const seed of seedList.split(',').map(Number)) {
  schedules++
  const { violations } = await simulate(seed).catch((error: unknown) => {
    throw new Error(`seed ${seed}`, { cause: error })
  })
  if (violations.length === 0) continue
  const broken = [...new Set(violations.map(({ invariant }) => invariant))]
  process.send!({ caught: { seed, schedules, broken, says: violations[0]!.says } })
  process.exit(0)
}
process.send!({ caught: null, schedules })
process.exit(0)
