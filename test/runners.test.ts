import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { study } from 'counterfoil/testing'
import app from './fixtures/simulate/retention.config.ts'

const root = join(import.meta.dirname, '..')
const { resolve: locate } = createRequire(import.meta.url)
const fixtures = join(root, 'test/fixtures/runners')

/** Runs a test runner of another make on its own example. */
function run(program: string, ...parameters: string[]): Promise<{ code: number; out: string }> {
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined, CI: 'true', NO_COLOR: '1' }
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [...parameters.slice(1), program, ...parameters[0]!.split(' ')],
      { cwd: root, env },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out: out + err }),
    )
  })
}

test('the simulator runs inside node:test', async () => {
  const { findings, faults } = await study(app, { seeds: 2 })
  assert.deepEqual(
    findings.map(({ kind }) => kind),
    ['retention-too-short'],
  )
  assert.ok(faults > 10)
})

test('the simulator runs inside Vitest', async () => {
  const program = join(dirname(locate('vitest/package.json')), 'vitest.mjs')
  const { code, out } = await run(program, `run --config ${join(fixtures, 'vitest.config.ts')}`)
  assert.equal(code, 0, out)
  assert.match(out, /1 passed/)
})

test('the simulator runs inside Jest', async () => {
  const program = join(dirname(locate('jest/package.json')), 'bin/jest.js')
  const config = `--config ${join(fixtures, 'jest.config.json')}`
  const { code, out } = await run(program, config, '--experimental-vm-modules', '--no-warnings')
  assert.equal(code, 0, out)
  assert.match(out, /1 passed/)
})
