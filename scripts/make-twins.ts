import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { publishedTwins } from '../packages/counterfoil/src/intake/fixtures/twins.ts'
import { kindOf, vectorNames } from '../packages/counterfoil/src/intake/fixtures/vectors.ts'

/**
 * Writes the twins of the vectors, for other languages:
 *
 *     npx node --conditions=counterfoil:source scripts/make-twins.ts
 */
const directory = join(import.meta.dirname, '../vectors/twins')

mkdirSync(directory, { recursive: true })
for (const name of vectorNames.filter((one) => one in kindOf)) {
  writeFileSync(join(directory, `${name}.json`), `${JSON.stringify(publishedTwins(name), null, 2)}\n`)
}
