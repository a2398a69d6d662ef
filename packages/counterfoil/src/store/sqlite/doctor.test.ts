import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { plannedEffect, start } from '../conformance/given.ts'
import { prepare } from './connection.ts'
import { configure, openFile } from './database.ts'
import { examine } from './doctor.ts'
import { temporaryDirectory } from './fixtures/temporary.ts'
import { sqlite } from './index.ts'

test('a store that is well is said to be, and what is due for long is told', async () => {
  const directory = temporaryDirectory()
  const path = join(directory.path, 'doctor.db')
  const store = sqlite(path)
  try {
    await store.open({ migrate: true })
    const levels = async () =>
      Object.fromEntries(((await store.examine?.()) ?? []).map(({ check, level }) => [check, level]))
    const well = { synchronous: 'good', integrity: 'good', log: 'good', late: 'good' }
    const { disk: _, ...found } = await levels()
    assert.deepEqual(found, well)
    // Planned at the beginning of the tests' clock, and nobody works.
    await plannedEffect(store, { at: start })
    const { late } = await levels()
    assert.equal(late, start < Date.now() - 600_000 ? 'warning' : 'good')
    await store.close()
    const options = { path, busyTimeoutMs: 100, synchronous: 'off' as const }
    const db = openFile(options, false)
    configure(db, options)
    prepare(db)
    const told = examine(db, path, start + 600_001)
    db.close()
    const of = (check: string) => told.find((one) => one.check === check)
    assert.deepEqual(
      [of('late')?.level, of('late')?.says],
      ['warning', '1 effects are due for more than 10 minutes.'],
    )
    assert.equal(of('synchronous')?.level, 'problem')
    assert.ok(told.every(({ level, hint }) => (level === 'good') === (hint === null)))
  } finally {
    await store.close()
    directory.remove()
  }
})
