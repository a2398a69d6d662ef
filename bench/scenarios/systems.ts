import { existsSync } from 'node:fs'
import type { System } from './system.ts'

/** Where the code of each system lies. The peers' packages are installed in bench/peers alone. */
const files: Readonly<Record<string, string>> = {
  Counterfoil: './systems/counterfoil.ts',
  DBOS: '../peers/scenarios/dbos.ts',
  'pg-boss': '../peers/scenarios/pg-boss.ts',
  'graphile-worker': '../peers/scenarios/graphile-worker.ts',
  BullMQ: '../peers/scenarios/bullmq.ts',
  Powertools: '../peers/scenarios/powertools.ts',
}

export const systemNames = Object.keys(files)

/** Loaded only in the process that needs it. */
export async function systemNamed(name: string): Promise<System> {
  const file = files[name]
  if (file === undefined) throw new Error(`no system '${name}': ${systemNames.join(', ')}`)
  if (file.startsWith('../peers') && !existsSync(new URL('../peers/node_modules', import.meta.url)))
    throw new Error(`${name} is not installed: npm ci --prefix bench/peers`)
  const { system } = (await import(new URL(file, import.meta.url).href)) as { system: System }
  return system
}
