import { shapes } from '../../packages/counterfoil/src/engine/fixtures/shapes.ts'
import { explore } from './explore.ts'

/** `npm run exhaustive [-- SHAPE|all [ATTEMPTS [MOST_STATES]]]`: a line for each shape, and the way to what is broken. */
const [only, attempts = '1', most = '3000000'] = process.argv.slice(2)
for (const [name, shape] of Object.entries(shapes)) {
  if (only !== undefined && only !== 'all' && only !== name) continue
  const begun = process.cpuUsage()
  const events = 'version' in shape ? 'ordered' : 'shared'
  const found = explore({ shape, events, attempts: Number(attempts) }, Number(most))
  const { user } = process.cpuUsage(begun)
  console.log(
    name,
    events,
    found.states,
    found.steps,
    `cut ${found.cut}`,
    found.bounded ? 'BOUND' : '',
    (user / 1e6).toFixed(1),
  )
  if (found.violation) console.log(found.violation)
  if (found.violation || found.bounded) process.exitCode = 1
}
