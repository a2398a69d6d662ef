import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { effectKey } from '../packages/counterfoil/src/domain/index.ts'
import { realDeliveries } from './deliveries.ts'
import { githubKey, githubTypes } from './keys.ts'

test('the demo ends with a recipient that acted exactly as the ledger says, and again on the same store', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'counterfoil-demo-'))
  try {
    const env = {
      ...process.env,
      COUNTERFOIL_DEMO_DIR: directory,
      COUNTERFOIL_DEMO_PORT: '14840',
      COUNTERFOIL_DEMO_RECIPIENT_PORT: '14841',
    }
    for (const run of [1, 2]) {
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [join(import.meta.dirname, 'start.ts'), '--once'],
        { env },
      )
      assert.match(stdout, /The recipient acted exactly as the ledger says/)
      assert.match(stdout, /unknown +7 were seen unknown now, and all are reconciled/, `run ${run}`)
      assert.match(stdout, /at most 1 for one key/)
      assert.match(stdout, /1 effect-conflict|2 effect-conflict/)
    }
  } finally {
    rmSync(directory, { recursive: true })
  }
})

test('real examples of every supported type are sent, each under an id of its own', () => {
  const deliveries = realDeliveries()
  assert.deepEqual(new Set(deliveries.map(({ headers }) => headers['x-github-event'])), new Set(githubTypes))
  assert.equal(new Set(deliveries.map(({ headers }) => headers['x-github-delivery'])).size, deliveries.length)
})

test('whatever a payload holds or lacks, its effect has a key that may be one', () => {
  const type = fc.constantFrom(...githubTypes)
  const odd = fc.oneof(
    fc.jsonValue(),
    fc.string({ unit: 'binary' }),
    fc.record({ number: fc.string({ unit: 'binary' }), full_name: fc.string() }),
  )
  fc.assert(
    fc.property(
      type,
      fc.dictionary(fc.constantFrom('action', 'issue', 'ref', 'after', 'repository', 'release'), odd),
      fc.string({ minLength: 64, maxLength: 64 }),
      (name, payload, content) => {
        const key = githubKey(name, payload, `jcs-sha256:${content}`)
        assert.equal(effectKey(key), key)
      },
    ),
  )
})
