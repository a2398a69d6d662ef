/**
 * Runs every test: `npm test`, or `npm test -- PATTERN …` for some files. Test files of their own process
 * each, two at a time; the summary at the end is the one of Node's test runner.
 */
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const given = process.argv.slice(2)
const files =
  given.length > 0
    ? given
    : ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts', 'demo/**/*.test.ts', 'examples/**/*.test.ts']
// Browser tests look at the console as its sources are now.
spawnSync(process.execPath, [join(import.meta.dirname, 'build-console.js')], { stdio: 'inherit' })
const { status } = spawnSync(
  process.execPath,
  ['--conditions=counterfoil:source', '--test', '--test-concurrency=2', '--test-timeout=600000', ...files],
  // Sources are compiled once and not by each of a thousand processes and threads: half of the time of some files.
  { stdio: 'inherit', env: { NODE_COMPILE_CACHE: join(tmpdir(), 'counterfoil-compiled'), ...process.env } },
)
process.exitCode = status ?? 1
