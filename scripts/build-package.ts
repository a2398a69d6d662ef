/**
 * Builds what is published, in packages/counterfoil/dist: JavaScript without comments, declarations with them, no maps
 * (they would point at sources that are not in the package), the migrations, the console.
 */
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { build, type Plugin } from 'esbuild'

const root = join(import.meta.dirname, '..')
const packageRoot = join(root, 'packages/counterfoil')
/** Beside the old one until it is whole: a server of this checkout may read its console there. */
const dist = join(packageRoot, `dist-${process.pid}`)

compile('--declaration', 'false', '--removeComments')
compile('--emitDeclarationOnly')
// The compiler moves no .sql files.
for (const store of ['sqlite', 'postgres']) {
  const migrations = `store/${store}/migrations`
  cpSync(join(packageRoot, 'src', migrations), join(dist, migrations), { recursive: true })
}
await foldHonoIntoTheServer()
removeUnreachableDeclarations()
run(join(root, 'scripts/build-console.js'), join(dist, 'console'))
takeThePlaceOf(join(packageRoot, 'dist'))
for (const file of ['README.md', 'LICENSE']) copyFileSync(join(root, file), join(packageRoot, file))

function compile(...options: string[]): void {
  run(
    join(root, 'node_modules/typescript/bin/tsc'),
    '-p',
    join(packageRoot, 'tsconfig.build.json'),
    '--outDir',
    dist,
    ...options,
  )
}

function run(program: string, ...parameters: string[]): void {
  const { status } = spawnSync(process.execPath, [program, ...parameters], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

/**
 * The server uses a twentieth of Hono. That part goes into it as one file, so that nobody who installs Counterfoil
 * installs a web framework beside their own. Nothing of Hono is in a public type.
 */
async function foldHonoIntoTheServer(): Promise<void> {
  const server = join(dist, 'server')
  const folded = ['hono', '@hono/node-server']
  const othersStayOutside: Plugin = {
    name: 'others stay outside',
    setup: ({ onResolve }) =>
      onResolve({ filter: /.*/ }, ({ path, importer }) => {
        const isOurs = dirname(importer) === server
        if (isOurs && path.startsWith('../')) return { path, external: true }
        const isBare = /^[@a-z]/.test(path)
        const isFolded = folded.some((name) => path === name || path.startsWith(`${name}/`))
        return isBare && !isFolded ? { path, external: true } : undefined
      }),
  }
  const index = join(server, 'index.js')
  await build({
    entryPoints: [index],
    outfile: index,
    allowOverwrite: true,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    legalComments: 'none',
    logLevel: 'warning',
    plugins: [othersStayOutside],
  })
  for (const file of readdirSync(server)) if (file !== 'index.js') rmSync(join(server, file))
  const licences = folded.map((name) => {
    const { version } = JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'))
    return `${name} ${version}\n\n${readFileSync(join(root, 'node_modules', name, 'LICENSE'), 'utf8')}`
  })
  writeFileSync(join(server, 'third-party.txt'), licences.join('\n\n'))
}

/** Declarations that no entry of the package leads to would be a third of them, and nobody could import them. */
function removeUnreachableDeclarations(): void {
  const about = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    exports: Record<string, string | { types: string }>
  }
  const reachable = new Set<string>()
  const visit = (file: string): void => {
    if (reachable.has(file)) return
    reachable.add(file)
    const imports = readFileSync(file, 'utf8').matchAll(/(?:from |import\()["'](\.[^"']+)\.ts["']/g)
    for (const [, path] of imports) visit(join(dirname(file), `${path}.d.ts`))
  }
  for (const entry of Object.values(about.exports))
    if (typeof entry !== 'string') visit(join(dist, relative('dist', entry.types)))
  for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    if (file.endsWith('.d.ts') && !reachable.has(join(dist, file))) rmSync(join(dist, file))
  }
}

function takeThePlaceOf(old: string): void {
  const aside = `${dist}-old`
  if (existsSync(old)) renameSync(old, aside)
  renameSync(dist, old)
  rmSync(aside, { recursive: true, force: true })
}
