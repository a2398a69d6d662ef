#!/usr/bin/env node
// The `counterfoil` command. A checkout runs from source, which Node strips of its types; an installed
// package has no src/ and runs what was built.
import { existsSync } from 'node:fs'
import { registerHooks } from 'node:module'

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 15)) {
  process.stderr.write(`counterfoil needs Node 24.15 or newer; this is ${process.version}.\n`)
  process.exit(2)
}
const source = new URL('../src/cli/main.ts', import.meta.url)
if (existsSync(source)) {
  registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier, { ...context, conditions: [...context.conditions, 'counterfoil:source'] }),
  })
  await import(source.href)
} else {
  await import('../dist/cli/main.js')
}
