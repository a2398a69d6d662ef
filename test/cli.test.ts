import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { Credentials } from '../packages/counterfoil/src/operate/index.ts'

const root = join(import.meta.dirname, '..')
const launcher = join(root, 'packages/counterfoil/bin/counterfoil.js')
const config = join(root, 'demo/counterfoil.config.ts')
const directory = mkdtempSync(join(tmpdir(), 'counterfoil-cli-'))

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

function counterfoil(...parameters: string[]): Promise<Ran> {
  const env = { ...process.env, COUNTERFOIL_DEMO_DIR: directory }
  return new Promise((resolve) => {
    execFile(process.execPath, [launcher, ...parameters], { env, cwd: directory }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err })
    })
  })
}

const commands = [
  'init',
  'serve',
  'check',
  'migrate',
  'status',
  'receipts list',
  'receipts show',
  'effects list',
  'effects show',
  'effects ask',
  'effects repeat',
  'effects place-tombstone',
  'effects confirm',
  'effects refuse',
  'effects withdraw',
  'effects approve',
  'effects reject',
  'search',
  'doctor',
  'completion',
  'quarantine list',
  'quarantine show',
  'quarantine assign',
  'quarantine reprocess',
  'quarantine dismiss',
  'unknown list',
  'reconcile',
  'simulate',
  'retention plan',
  'retention apply',
  'retention erase',
  'audit list',
  'audit head',
  'audit verify',
  'operators new',
]

describe('the command line', () => {
  after(() => rmSync(directory, { recursive: true }))

  test('lists its commands, and says so with exit code 2 when one is unknown', async () => {
    const help = await counterfoil('--help')
    assert.equal(help.code, 0)
    for (const command of commands) assert.match(help.out, new RegExp(`  ${command} `))
    const wrong = await counterfoil('effekts')
    assert.deepEqual([wrong.code, wrong.out], [2, ''])
    assert.match(wrong.err, /There is no command 'effekts'/)
  })

  test('every command has help with an example, and an unknown option is bad use', async () => {
    const helps = async (command: string) => {
      const help = await counterfoil(...command.split(' '), '--help')
      assert.equal(help.code, 0)
      assert.match(help.out, new RegExp(`Example: counterfoil ${command}`))
    }
    const waiting = [...commands]
    const worker = async () => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await helps(next)
    }
    await Promise.all([worker(), worker(), worker(), worker()])
    for (const command of ['status', 'effects confirm', 'quarantine list', 'init']) {
      const wrong = await counterfoil(...command.split(' '), '--no-such-option', '--config', config)
      assert.equal(wrong.code, 2)
      assert.match(wrong.err, /usage_invalid/)
    }
  })

  test('without a configuration it says where it looked and what to do', async () => {
    const ran = await counterfoil('status')
    assert.equal(ran.code, 1)
    assert.match(
      ran.err,
      /There is no counterfoil.config.ts in .*\[config_not_found\]\nName it with --config FILE/,
    )
    const json = await counterfoil('status', '--json')
    assert.equal(JSON.parse(json.out).error.code, 'config_not_found')
  })

  test('a configuration without a default export is refused', async () => {
    writeFileSync(join(directory, 'other.config.ts'), 'export const nothing = 1\n')
    const ran = await counterfoil('check', '--config', 'other.config.ts')
    assert.match(ran.err, /does not default-export counterfoil/)
  })

  test('reading a store that is not there yet asks for the migration, which then works once', async () => {
    const before = await counterfoil('status', '--config', config)
    assert.equal(before.code, 1)
    assert.match(before.err, /There is no store at .*\[store_unavailable\]\n.*counterfoil migrate/)
    assert.match((await counterfoil('migrate', '--config', config)).out, /applied 0001/)
    assert.match((await counterfoil('migrate', '--config', config)).out, /at schema \d+ already/)
    const status = await counterfoil('status', '--config', config)
    assert.equal(status.code, 0)
    assert.match(status.out, /receipts +0 \(none\)/)
    const json = JSON.parse((await counterfoil('status', '--config', config, '--json')).out)
    assert.equal(json.receipts.total, 0)
  })

  test('a decision needs an operator and a reason; a new operator gets a token that is shown once', async () => {
    const nobody = await counterfoil('quarantine', 'dismiss', 'qua_0', '--version', '1', '--config', config)
    assert.equal(nobody.code, 1)
    assert.match(nobody.err, /No operator is named\. \[decision_invalid\]\nGive --operator NAME/)
    const { token, kept } = JSON.parse((await counterfoil('operators', 'new', 'dana', '--json')).out)
    assert.equal(
      new Credentials([{ name: 'dana', role: 'operator', token: kept }], {}).operatorOf(token)?.name,
      'dana',
    )
    const verified = await counterfoil('audit', 'verify', '--config', config)
    assert.deepEqual(
      [verified.code, verified.out],
      [0, `0 rows follow from each other; head ${'0'.repeat(64)}\n`],
    )
    const gone = await counterfoil('audit', 'verify', '--head', 'a'.repeat(64), '--config', config)
    assert.equal(gone.code, 1)
    assert.match(gone.out, /rows are gone, or were made anew/)
  })

  test('check says in words what is done at each recipient', async () => {
    const { code, out } = await counterfoil('check', '--config', config)
    assert.equal(code, 0)
    assert.match(out, /recipient workshop at http:\/\/127\.0\.0\.1:4841/)
    assert.match(out, /may be repeated under the same key until 21\.6h after the first attempt, never later/)
    assert.match(out, /"Not there" is proof 5s after the last attempt ended/)
    assert.match(out, /producer github \(github\), owner \w+/)
    assert.match(out, /^alerts: to the log$/m)
    assert.match(out, /quarantine: no event of a type that no trigger supports/)
    assert.doesNotMatch(out, /whsec_|Secret|undefined/)
  })

  test("reconcile names what bypassed the ledger, from the recipient's own listing", async () => {
    const file = join(directory, 'listing.jsonl')
    writeFileSync(file, '{"correlation":"op_9","amount":1200}\n')
    const against = ['--against', file, '--recipient', 'workshop', '--config', config]
    const ran = await counterfoil('reconcile', ...against)
    assert.equal(ran.code, 1)
    assert.match(ran.out, /1 acts in the listing, 0 effects in the ledger, 0 agree\.\nBYPASSED line 1: op_9/)
    const { bypassed } = JSON.parse((await counterfoil('reconcile', ...against, '--json')).out)
    assert.deepEqual(bypassed, [{ line: 1, key: null, correlation: 'op_9', members: { amount: 1200 } }])
    writeFileSync(file, '')
    assert.equal((await counterfoil('reconcile', ...against)).code, 0)
  })

  test('what is not there is said so, with exit code 1', async () => {
    for (const command of [
      'receipts show rcp_0',
      'effects show nothing',
      'quarantine show qua_0',
      'quarantine dismiss qua_0 --version 1 --operator dana --reason x',
    ]) {
      const ran = await counterfoil(...command.split(' '), '--config', config)
      assert.equal(ran.code, 1)
      assert.match(ran.err, /\[not_found\]\nList them: counterfoil/)
    }
    for (const command of [
      'receipts show',
      'effects list --limit 0',
      'effects list --state odd',
      'quarantine list --where colour=red',
      'quarantine list --where state',
      'quarantine dismiss',
      'quarantine dismiss qua_0 --operator dana --reason x',
      'quarantine assign qua_0 --version 1 --operator dana --reason x',
      'reconcile',
      'reconcile --against nowhere.jsonl --recipient workshop',
      'audit list --before x',
      'audit verify --head x',
      'operators new dana --role boss',
    ]) {
      assert.equal((await counterfoil(...command.split(' '), '--config', config)).code, 2, command)
    }
  })
})
