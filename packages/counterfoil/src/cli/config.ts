import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Counterfoil } from '../counterfoil.ts'
import { CounterfoilError } from '../domain/index.ts'

const names = ['counterfoil.config.ts', 'counterfoil.config.js', 'counterfoil.config.mjs']

/** Loads the configuration's default export. @throws CounterfoilError `config_not_found` */
export async function loadConfig(file: string | undefined, directory: string): Promise<Counterfoil> {
  const found = (file === undefined ? names : [file])
    .map((name) => resolve(directory, name))
    .find((path) => existsSync(path))
  if (found === undefined) {
    throw new CounterfoilError('config_not_found', `There is no ${file ?? names[0]} in ${directory}.`, {
      hint: 'Name it with --config FILE.',
    })
  }
  const module = (await import(pathToFileURL(found).href)) as { default?: unknown }
  if (!isCounterfoil(module.default)) {
    throw new CounterfoilError('config_not_found', `${found} does not default-export counterfoil({ … }).`, {
      hint: 'Write: export default counterfoil({ store, triggers, recipients })',
    })
  }
  return module.default
}

function isCounterfoil(value: unknown): value is Counterfoil {
  return (
    typeof value === 'object' &&
    value !== null &&
    'receive' in value &&
    'store' in value &&
    'recipients' in value
  )
}
