/**
 * Plays schedules against one mutant after the other, as its parent asks. Each mutant gets an instance of its own of all that
 * the simulator loads of ours: a process for each would spend most of its time on starting.
 */
import { registerHooks, stripTypeScriptTypes } from 'node:module'
import type { simulate } from 'counterfoil/testing'
import type { Result } from './run.ts'
import { changesOf, isSource, mutantCalled, mutantIn, mutated, sourceUrl, textOf, urlFor } from './source.ts'

const simulator = 'testing/simulator/simulate.ts'
/** What ships, without its types, by address: the same for all mutants but for the file that each changes. */
const plain = new Map<string, string>()
const changed = new Set<string>()

registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context)
    const mutant = mutantIn(context.parentURL)
    return mutant === null || !isSource(resolved.url)
      ? resolved
      : { ...resolved, url: urlFor(resolved.url, mutant) }
  },
  load(url, context, next) {
    const mutant = mutantIn(url)
    if (mutant === null) return next(url, context)
    return { format: 'module', source: sourceFor(mutant, url.slice(0, url.indexOf('?'))), shortCircuit: true }
  },
})

function sourceFor(name: string, url: string): string {
  const mutant = mutantCalled(name)
  const change = changesOf(mutant).find(({ file }) => url === sourceUrl(file))
  if (change !== undefined) {
    changed.add(`${name} ${change.file}`)
    return stripTypeScriptTypes(mutated(mutant, change.file, textOf(url)))
  }
  const source = plain.get(url) ?? stripTypeScriptTypes(textOf(url))
  plain.set(url, source)
  return source
}

interface Asked {
  readonly name: string
  readonly seeds: readonly number[]
}

// What a mutant leaves behind fails later, and is not the next one's.
process.on('unhandledRejection', () => {})
process.on('message', (asked: Asked) => {
  void play(asked).then((said) => process.send!(said))
})

async function play({ name, seeds }: Asked): Promise<Pick<Result, 'caught' | 'error'>> {
  const mutant: { simulate: typeof simulate } = await import(urlFor(sourceUrl(simulator), name))
  const idle = changesOf(mutantCalled(name)).find(({ file }) => !changed.has(`${name} ${file}`))
  if (idle !== undefined)
    return { caught: null, error: `${idle.file} is not part of what the simulator runs` }
  let schedules = 0
  for (const seed of seeds) {
    schedules++
    try {
      const { violations } = await mutant.simulate(seed)
      if (violations.length === 0) continue
      const broken = [...new Set(violations.map(({ invariant }) => invariant))]
      return { caught: { seed, schedules, broken, says: violations[0]!.says }, error: null }
    } catch (error) {
      return { caught: null, error: `seed ${seed}: ${error}` }
    }
  }
  return { caught: null, error: null }
}
