import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { skipLoudly } from '../../testing/skip.ts'
import { accepted } from '../conformance/given.ts'
import type { Finding, Store } from '../store.ts'
import { graded } from './doctor.ts'
import { missing } from './fixtures/binaries.ts'
import { Server } from './fixtures/server.ts'
import { postgres } from './index.ts'

const why = missing(16)

describe('doctor', () => {
  if (why !== undefined) {
    test('PostgreSQL 16', (t) => skipLoudly(t, why))
    return
  }
  let server: Server
  let store: Store
  before(async () => {
    server = await Server.start(16, { max_prepared_transactions: '2' })
    store = postgres(server.url(), { schema: 'sick' })
    await store.open({ migrate: true })
    await accepted(store)
  })
  after(async () => {
    await store.close()
    await server.dispose()
  })

  const levelOf = async (check: string): Promise<Finding['level'] | undefined> =>
    (await store.examine!()).find((finding) => finding.check === check)?.level

  test('finds a fresh store good in every respect', async () => {
    const findings = await store.examine!()
    assert.deepEqual(
      findings.filter(({ level }) => level !== 'good'),
      [],
    )
    for (const check of [
      'fsync',
      'synchronous_commit',
      'clock',
      'oldest transaction',
      'indexes',
      'table outbox',
      'frozen',
    ])
      assert.ok(
        findings.some((finding) => finding.check === check),
        check,
      )
  })

  test('names an index that is missing, and one that is invalid', async () => {
    await server.query('drop index sick.outbox_at')
    await server.query(
      "update pg_index set indisvalid = false where indexrelid = 'sick.effect_key'::regclass",
    )
    const finding = (await store.examine!()).find(({ check }) => check === 'indexes')
    assert.equal(finding?.level, 'problem')
    assert.match(finding!.says, /outbox_at.*effect_key|effect_key.*outbox_at/)
    await server.query("update pg_index set indisvalid = true where indexrelid = 'sick.effect_key'::regclass")
    await server.query('create index outbox_at on sick.outbox (producer, at)')
    assert.equal(await levelOf('indexes'), 'good')
  })

  test('tells settings that may lose what was committed', async () => {
    for (const name of ['fsync', 'synchronous_commit', 'full_page_writes']) {
      // The command line of the test's server sets them; a role's and a database's setting come after that.
      await server.query(`alter role postgres set ${name} = off`).catch(() => {})
    }
    const fresh = postgres(server.url(), { schema: 'sick' })
    await fresh.open({ migrate: false })
    const findings = await fresh.examine!()
    assert.equal(findings.find(({ check }) => check === 'synchronous_commit')?.level, 'problem')
    await fresh.close()
    await server.query('alter role postgres reset synchronous_commit')
  })

  test('tells a transaction that is open, and of what age it is a warning and a problem', async () => {
    const client = new pg.Client({ connectionString: server.url() })
    await client.connect()
    await client.query('begin')
    await client.query('select 1')
    await client.query('select pg_sleep(1.1)')
    const finding = (await store.examine!()).find(({ check }) => check === 'oldest transaction')
    assert.match(finding!.says, /is [1-9]\d* s old/)
    await client.end()
    const limit = { warning: 300, problem: 3_600 }
    for (const [age, level] of [
      [299, 'good'],
      [300, 'warning'],
      [3_599, 'warning'],
      [3_600, 'problem'],
    ] as const)
      assert.equal(graded('x', age, limit, 'says', 'hint').level, level)
  })

  test('the command prints findings and ends with 1 for a problem', async () => {
    const directory = mkdtempSync(join(import.meta.dirname, '../../../.doctor-'))
    try {
      const config = join(directory, 'counterfoil.config.ts')
      writeFileSync(
        config,
        `import { counterfoil } from 'counterfoil'
import { postgres } from 'counterfoil/postgres'
export default counterfoil({ store: postgres('${server.url()}', { schema: 'sick' }), triggers: [], recipients: [] })
`,
      )
      const launcher = join(import.meta.dirname, '../../../bin/counterfoil.js')
      const run = (...more: string[]) =>
        new Promise<{ code: number; stdout: string }>((resolve) => {
          const child = execFile(
            process.execPath,
            [launcher, 'doctor', '--config', config, ...more],
            (_, stdout) => resolve({ code: child.exitCode ?? -1, stdout }),
          )
        })
      const healthy = await run('--json')
      assert.equal(healthy.code, 0, healthy.stdout)
      const { findings } = JSON.parse(healthy.stdout) as { findings: Finding[] }
      assert.ok(findings.every(({ level }) => level === 'good'))
      await server.query('drop index sick.alert_at')
      const sick = await run()
      assert.equal(sick.code, 1)
      assert.match(sick.stdout, /problem +indexes +Missing or invalid: alert_at/)
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })
})
