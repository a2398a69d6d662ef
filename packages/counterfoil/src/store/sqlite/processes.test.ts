import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { accepted, on, rejects } from '../conformance/given.ts'
import { count, hasProgram, startWriter } from './fixtures/child.ts'
import { ledgerFaults } from './fixtures/ledger-faults.ts'
import { temporaryDirectory, temporaryStore } from './fixtures/temporary.ts'
import { sqlite } from './index.ts'

const directory = temporaryDirectory()
after(() => directory.remove())

test('two processes migrate one file at once, write to it, and both succeed (C33)', async () => {
  const path = join(directory.path, 'two.db')
  const options = { path, callers: 8, count: 40, plans: true }
  const writers = [startWriter({ ...options, name: 'one' }), startWriter({ ...options, name: 'two' })]
  await Promise.all(writers.map(({ ended }) => ended))
  for (const writer of writers) {
    assert.deepEqual(writer.said('failed'), [])
    assert.equal(writer.said('ack').length, 320)
  }
  const acknowledged = writers.flatMap((writer) => writer.said('ack'))
  assert.deepEqual(ledgerFaults(path, acknowledged), { lost: [], faults: [] })
})

test(
  'a commit waits for another process’s transaction, and fails as busy only when it takes too long (C33)',
  on(temporaryStore, async (first) => {
    const store = sqlite(first.location, { busyTimeoutMs: 1_000 })
    await store.open({ migrate: false })
    const other = new DatabaseSync(first.location)
    try {
      other.exec('begin immediate')
      const waits = accepted(store)
      await sleep(200)
      other.exec('rollback')
      await waits
      other.exec('begin immediate')
      await rejects(accepted(store), 'store_busy')
      // What only reads waits for nobody.
      assert.equal((await store.status()).receipts.total, 1)
      other.exec('rollback')
      await accepted(store)
      assert.equal((await store.status()).receipts.total, 2)
    } finally {
      other.close()
      await store.close()
    }
  }),
)

test('SIGKILL while a process accepts and plans loses nothing that it acknowledged (C04)', async () => {
  const path = join(directory.path, 'killed.db')
  const acknowledged: string[] = []
  const planned: string[] = []
  for (let round = 0; round < 5; round++) {
    const writer = startWriter({ path, callers: 16, count: 100_000, plans: true, name: `round-${round}` })
    await writer.until((lines) => count(lines, 'planned') >= 50 + 60 * round)
    writer.process.kill('SIGKILL')
    await writer.ended
    acknowledged.push(...writer.said('ack'))
    planned.push(...writer.said('planned'))
    assert.deepEqual(writer.said('failed'), [])
    assert.deepEqual(ledgerFaults(path, acknowledged), { lost: [], faults: [] })
  }
  const db = new DatabaseSync(path)
  const effect = db.prepare('select 1 from counterfoil_effect where id = ?')
  assert.deepEqual(
    planned.filter((id) => effect.get(id) === undefined),
    [],
  )
  db.close()
})

test('death at any write to the file leaves a whole ledger (C04)', async (t) => {
  if (!hasProgram(t, 'strace', 'strace')) return
  const path = join(directory.path, 'any-write.db')
  const setup = startWriter({ path, callers: 1, count: 1 })
  await setup.ended
  let deaths = 0
  for (const write of [1, 2, 3, 5, 8, 13, 21, 34, 55]) {
    const inject = `inject=pwrite64:signal=SIGKILL:when=${write}`
    const under = ['strace', '-f', '-qq', '-o', '/dev/null', '-e', 'trace=pwrite64', '-e', inject]
    const writer = startWriter({ path, callers: 4, count: 10, plans: true, name: `write-${write}` }, under)
    await writer.ended
    if (!writer.lines.includes('done')) deaths++
    assert.deepEqual(ledgerFaults(path, writer.said('ack')), { lost: [], faults: [] })
  }
  assert.ok(deaths >= 7, `only ${deaths} of the processes died`)
})
