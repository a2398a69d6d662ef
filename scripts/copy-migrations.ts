/** The compiler moves no .sql files: they go beside the built store. */
import { cpSync } from 'node:fs'

const from = new URL('../packages/counterfoil/src/store/sqlite/migrations', import.meta.url)
const to = new URL('../packages/counterfoil/dist/store/sqlite/migrations', import.meta.url)
cpSync(from, to, { recursive: true })
