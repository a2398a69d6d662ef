import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { inspect } from 'node:util'
import { systemRandom } from '../ambient.ts'
import type { Log } from '../domain/index.ts'
import { type KeyRing, loadKeyRing } from './key-ring.ts'
import { Vault } from './vault.ts'

const directory = mkdtempSync(join(tmpdir(), 'counterfoil-keys-'))
after(() => rmSync(directory, { recursive: true }))

const [k1, k2] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')]
let files = 0
const path = () => join(directory, `file-${files++}`)
const quiet: Log = () => {}
const fromEnv = (keys: string, more: Record<string, string> = {}) =>
  loadKeyRing({ env: { COUNTERFOIL_VAULT_KEYS: keys, ...more }, devFile: path(), log: quiet })
const fromFile = (text: string, mode = 0o600) => {
  const file = path()
  writeFileSync(file, text)
  chmodSync(file, mode)
  return loadKeyRing({ env: {}, file, devFile: path(), log: quiet })
}
/** The same keys under the same names. */
const sameKeys = (one: KeyRing, other: KeyRing) => {
  const sealed = new Vault(one, systemRandom).seal(Buffer.from('x'), 'r')
  return Buffer.from(new Vault(other, systemRandom).open(sealed, 'r')).toString() === 'x'
}

test('the environment lists keys by name; the first seals', () => {
  const ring = fromEnv(`new:${k1}, old:${k2}`)
  assert.equal(ring.primary, 'new')
  assert.ok(ring.get('old'))
  assert.equal(ring.get('other'), undefined)
})

test('a file has one key a line, with comments, and goes before the environment', () => {
  const ring = fromFile(`# made on Monday\nnew:${k1}\r\n\nold:${k2}\n`)
  assert.equal(ring.primary, 'new')
  assert.ok(sameKeys(ring, fromEnv(`new:${k1}`)))
})

test('a file that every user of the machine may read is refused, with the way out', () => {
  for (const mode of [0o644, 0o604, 0o666]) {
    assert.throws(() => fromFile(`k:${k1}`, mode), { code: 'key_ring_invalid', hint: /chmod 600/ })
  }
  for (const mode of [0o600, 0o400, 0o640]) assert.equal(fromFile(`k:${k1}`, mode).primary, 'k')
})

test('what is no list of keys is refused, and no key is quoted', () => {
  const short = randomBytes(16).toString('base64')
  for (const text of [
    '',
    '#',
    k1,
    `:${k1}`,
    `k:${short}`,
    `k:${k1}x`,
    `k ${k1}`,
    `k:${k1}\nk:${k2}`,
    `k:${k1.slice(0, 42)}B=`,
  ]) {
    assert.throws(
      () => fromFile(text),
      (error: Error & { code?: string }) => {
        assert.equal(error.code, 'key_ring_invalid', text)
        const print = inspect(error, { depth: 9 })
        for (const key of [k1, k2, short]) assert.ok(!print.includes(key))
        return true
      },
    )
  }
  assert.throws(() => loadKeyRing({ env: {}, file: join(directory, 'none'), devFile: path(), log: quiet }), {
    code: 'key_ring_invalid',
  })
})

test('production without a key does not start; an empty variable is no key', () => {
  for (const env of [{ NODE_ENV: 'production' }, { COUNTERFOIL_ENV: 'production' }]) {
    for (const keys of [undefined, '', ' ']) {
      const devFile = path()
      assert.throws(
        () => loadKeyRing({ env: { ...env, COUNTERFOIL_VAULT_KEYS: keys }, devFile, log: quiet }),
        { code: 'key_ring_missing', hint: /openssl rand/ },
      )
      assert.throws(() => statSync(devFile), { code: 'ENOENT' })
    }
  }
})

test('elsewhere a development key is made once, for the owner only, with a loud warning that holds no key', () => {
  const devFile = path()
  const lines: string[] = []
  const load = () => loadKeyRing({ env: {}, devFile, log: (...line) => lines.push(JSON.stringify(line)) })
  const [first, second] = [load(), load()]
  assert.ok(sameKeys(first, second))
  assert.equal(statSync(devFile).mode & 0o777, 0o600)
  const key = readFileSync(devFile, 'utf8').trim().split(':')[1]!
  assert.equal(lines.length, 2)
  for (const line of lines) {
    assert.match(line, /"warn","DEVELOPMENT VAULT KEY/)
    assert.ok(!line.includes(key))
  }
  assert.deepEqual(
    readdirSync(directory).filter((name) => devFile.endsWith(name.slice(0, 6)) && name.includes('.')),
    [],
  )
})

test('processes that start together use one development key', () => {
  const devFile = path()
  const program = `
    import { loadKeyRing } from ${JSON.stringify(join(import.meta.dirname, 'key-ring.ts'))}
    console.log(loadKeyRing({ env: {}, devFile: ${JSON.stringify(devFile)}, log: () => {} }).primary)`
  const node = `${process.execPath} --input-type=module -e '${program}'`
  const { stdout } = spawnSync('sh', ['-c', `for i in 1 2 3 4; do ${node} & done; wait`], {
    encoding: 'utf8',
  })
  const names = stdout.trim().split('\n')
  assert.equal(names.length, 4)
  assert.equal(new Set(names).size, 1, stdout)
})

test('a directory that cannot be written is told', () => {
  const devFile = join(directory, 'no', 'such', 'place')
  assert.throws(() => loadKeyRing({ env: {}, devFile, log: quiet }), { code: 'key_ring_invalid' })
})

test('a key ring prints names only', () => {
  const ring = fromEnv(`new:${k1}`)
  assert.equal(inspect(ring), 'KeyRing(new)')
  assert.equal(JSON.stringify(ring), '{"primary":"new"}')
})
