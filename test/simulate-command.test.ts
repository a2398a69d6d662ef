import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'

const root = join(import.meta.dirname, '..')
const launcher = join(root, 'packages/counterfoil/bin/counterfoil.js')

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

function simulate(config: string, ...parameters: string[]): Promise<Ran> {
  const file = join(import.meta.dirname, 'fixtures/simulate', config)
  const args = [launcher, 'simulate', '--config', file, ...parameters]
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      args,
      { env: { ...process.env, NODE_TEST_CONTEXT: undefined } },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    )
  })
}

/** A configuration with one mistake in it, what is found, and what is said of it and of its cure. */
const planted = [
  ['clock', 'not-deterministic', /sentOn/, /instead of the clock/],
  [
    'coarse',
    'key-too-coarse',
    /one key customer\/customer-0\/thanks .* differ in 'amount'/,
    /'amount', or a revision/,
  ],
  ['fine', 'key-too-fine', /event\/event-0\/thanks and event\/event-0-again\/thanks/, /id of the event/],
  ['order', 'order-cannot-hold', /the version 9\d in customer\/customer-0/, /a sequence or a revision/],
  ['no-control', 'order-cannot-hold', /'mail' compares no versions/, /ordering\.fence/],
  ['retention', 'retention-too-short', /'forgetful': it remembers keys for 10m/, /at least 68 min/],
] as const

describe('counterfoil simulate', { concurrency: 2 }, () => {
  test('finds nothing in a good configuration, under many faults, and touches no store', async () => {
    const { code, out, err } = await simulate('good.config.ts', '--seeds', '15')
    assert.equal(code, 0, out + err)
    const [, schedules, faults] = /(\d+) schedules of 6 events with (\d+) faults: nothing found/.exec(out)!
    assert.equal(Number(schedules), 15)
    assert.ok(Number(faults) > 15 * 10, out)
    assert.equal(existsSync('never-opened.db'), false)
  })

  for (const [name, kind, says, change] of planted) {
    test(`finds ${kind} in ${name}.config.ts and says what to change`, async () => {
      const { code, out, err } = await simulate(`${name}.config.ts`, '--seeds', '1', '--json')
      assert.equal(code, 1, err)
      const { findings } = JSON.parse(out) as { findings: Record<string, string>[] }
      assert.deepEqual(
        findings.map((finding) => finding.kind),
        [kind],
      )
      assert.match(`${findings[0]!.where}: ${findings[0]!.says}`, says)
      assert.match(findings[0]!.change!, change)
    })
  }

  test('says in words what it found, and that it found something', async () => {
    const { code, out } = await simulate('retention.config.ts', '--seeds', '1')
    assert.equal(code, 1)
    assert.match(
      out,
      /recipient 'forgetful': retention-too-short\n {2}it remembers keys for 10m\..*\n {2}Ask for keys/,
    )
    assert.match(out, /1 schedules of 6 events with \d+ faults: 1 found/)
  })

  test('tells one seed step by step, the same each time', async () => {
    const one = await simulate('good.config.ts', '--seed', '7')
    const again = await simulate('good.config.ts', '--seed', '7')
    assert.equal(one.code, 0, one.err)
    assert.match(
      one.out,
      /process 0 starts with version 1\n[\s\S]*seats acts on invoice\/id-0\/seat\/revision\/2/,
    )
    assert.equal(one.out, again.out)
  })

  test('asks for examples where a schema tells nothing, and takes them', async () => {
    const { code, err } = await simulate('schemaless.config.ts')
    assert.equal(code, 1)
    assert.match(
      err,
      /no event of 'invoice.paid' from 'billing': it has no schema.*\[examples_needed\]\n.*--examples FILE/,
    )
    const examples = join(import.meta.dirname, 'fixtures/simulate/examples.ts')
    const given = await simulate('schemaless.config.ts', '--examples', examples, '--seeds', '2')
    assert.equal(given.code, 0, given.out + given.err)
    assert.match(given.out, /2 schedules of 2 events/)
  })

  test('a seed that is no number is bad use', async () => {
    const { code, err } = await simulate('good.config.ts', '--seed', 'x')
    assert.equal(code, 2)
    assert.match(err, /--seed is 'x'/)
  })
})
