import { shapes } from '../../packages/counterfoil/src/engine/fixtures/shapes.ts'
import { explore } from './explore.ts'
import { sceneOf } from './scene.ts'

/** `npm run exhaustive [-- SHAPE|all [ATTEMPTS [MOST_STATES]]]`: a line for each shape, and the way to what is broken. */
const [only, attempts = '1', most = '3000000'] = process.argv.slice(2)
for (const [name, shape] of Object.entries(shapes)) {
  if (only !== undefined && only !== 'all' && only !== name) continue
  const begun = process.cpuUsage()
  const found = explore(sceneOf(shape, Number(attempts)), Number(most))
  const { user, system } = process.cpuUsage(begun)
  const { states, steps, depth, quiet, cut, violation, bounded, parts } = found
  const seconds = ((user + system) / 1e6).toFixed(1)
  console.log(
    `${name}: ${states} states, ${steps} steps, depth ${depth}, ${quiet} quiet, ${cut} cut, ${seconds} s of CPU, ` +
      `${Math.round(process.memoryUsage.rss() / 2 ** 20)} MB${bounded ? ', NOT COMPLETE' : ''} ${JSON.stringify(parts)}`,
  )
  if (violation) console.log(violation)
  if (violation || bounded) process.exitCode = 1
}
