import { readFileSync, writeFileSync } from 'node:fs'
import { mutants } from './mutants.ts'
import type { Result } from './run.ts'

const file = new URL('seeds.json', import.meta.url)

/** The seed that is known to catch each mutant, by its name; they change with what schedules do. */
export function knownSeeds(): Readonly<Record<string, number>> {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** Writes down what caught; what is known of others stays. */
export function recordSeeds(results: readonly Result[]): void {
  const known = { ...knownSeeds() }
  for (const { mutant, caught } of results) {
    if (caught !== null) known[mutant.name] = caught.seed
  }
  const entries = mutants.flatMap(({ name }) => (known[name] === undefined ? [] : [[name, known[name]]]))
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`)
}
