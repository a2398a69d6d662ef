/**
 * Twelve situations on Counterfoil and on its peers, and what each did: `npm run bench:scenarios [-- OPTIONS]`.
 *
 *   --only SYSTEM      may be given more than once
 *   --situation NAME   those whose name holds this; may be given more than once
 *   --at-once 4        how many runs go on at the same time
 *   --write            puts the tables into docs/comparison.md
 *   --json             one JSON document instead of the table
 */
import { parseArgs } from 'node:util'
import { type Outcome, play } from './play.ts'
import { situations } from './situations.ts'
import { systemNamed, systemNames } from './systems.ts'
import { intoPage, table } from './table.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    situation: { type: 'string', multiple: true },
    'at-once': { type: 'string', default: '4' },
    write: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})
const names = values.only ?? systemNames
const chosen = situations.filter(({ name }) => values.situation?.some((part) => name.includes(part)) ?? true)
if (chosen.length === 0)
  throw new Error(`no such situation: ${situations.map(({ name }) => name).join(', ')}`)

const systems = await Promise.all(names.map(systemNamed))
const runs = chosen.flatMap((situation) =>
  situation.variants.flatMap((variant) =>
    systems
      .filter(({ name }) => !variant.choice || name !== 'Counterfoil')
      .map((system) => ({ situation, variant, system })),
  ),
)
const outcomes: Outcome[] = []
let next = 0
/** Most of a run is waiting, so several go on at once, each with processes and records of its own. */
const worker = async () => {
  for (let index = next++; index < runs.length; index = next++) {
    const { situation, variant, system } = runs[index]!
    const begun = Date.now()
    const what = [system.name, situation.name, variant.name].filter((word) => word !== '').join(' | ')
    const say = (text: string) =>
      process.stderr.write(`${what}: ${text} (${((Date.now() - begun) / 1000).toFixed(1)} s)\n`)
    try {
      const outcome = await play(system, situation, variant)
      outcomes[index] = outcome
      say(`${outcome.acts} acts, ${outcome.tells}`)
    } catch (error) {
      // The others are still worth seeing.
      process.exitCode = 1
      say(`could not be played: ${error}`)
    }
  }
}
// Ctrl-C shows what was played so far.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, finish)
await Promise.all(Array.from({ length: Number(values['at-once']) }, worker))
finish()

function finish(): never {
  const played = outcomes.filter((outcome) => outcome !== undefined)
  const about = Object.fromEntries(systems.map((system) => [system.name, system.about]))
  const report = { at: new Date().toISOString(), about, outcomes: played }
  console.log(values.json ? JSON.stringify(report, null, 2) : table(report))
  if (values.write) intoPage(report)
  process.exit()
}
