/** The compiler moves no .sql files: they go beside the built stores. */
import { cpSync } from 'node:fs'

for (const store of ['sqlite', 'postgres']) {
  const from = new URL(`../packages/counterfoil/src/store/${store}/migrations`, import.meta.url)
  const to = new URL(`../packages/counterfoil/dist/store/${store}/migrations`, import.meta.url)
  cpSync(from, to, { recursive: true })
}
