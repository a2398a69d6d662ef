/**
 * Checks that this checkout can be released, and tries the publication: `npm run release`. With `-- --publish` it
 * publishes, with provenance: only where a CI service can sign what it built (docs/versions.md).
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const packageRoot = join(root, 'packages/counterfoil')
const publish = process.argv.includes('--publish')
const { version, repository } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
  version: string
  repository?: unknown
}

const changes = git('status', '--porcelain')
const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
const [, state] = new RegExp(`^## ${version.replaceAll('.', '\\.')}(.*)$`, 'm').exec(changelog) ?? []
const canSign =
  process.env.ACTIONS_ID_TOKEN_REQUEST_URL !== undefined || process.env.SIGSTORE_ID_TOKEN !== undefined

const faults = [
  changes !== '' && `The tree has changes that are not committed:\n${changes}`,
  state === undefined && `CHANGELOG.md has no entry for ${version}.`,
  publish && /unreleased/i.test(state ?? '') && `CHANGELOG.md calls ${version} unreleased.`,
  publish && git('tag', '--points-at', 'HEAD') !== `v${version}` && `This commit has no tag v${version}.`,
  publish &&
    repository === undefined &&
    'package.json names no repository: provenance is checked against it.',
  publish &&
    !canSign &&
    'There is no identity to sign with: publish from a CI workflow with id-token: write.',
].filter((fault) => fault !== false)
for (const fault of faults) console.error(fault)
if (faults.length > 0) process.exit(1)

run('node', ['--conditions=counterfoil:source', '--test', 'test/package.test.ts'], root)
run('npm', ['publish', '--access', 'public', ...(publish ? ['--provenance'] : ['--dry-run'])], packageRoot)
console.log(publish ? `counterfoil ${version} is published.` : `counterfoil ${version} could be published.`)

function git(...parameters: string[]): string {
  if (!existsSync(join(root, '.git'))) return ''
  return execFileSync('git', parameters, { cwd: root, encoding: 'utf8' }).trim()
}

function run(program: string, parameters: readonly string[], cwd: string): void {
  const { status } = spawnSync(program, parameters, { cwd, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
