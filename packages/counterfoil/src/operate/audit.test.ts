import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { verifyAudit } from './audit.ts'
import { act, Program } from './fixtures/quarantine.ts'
import { assign } from './quarantine.ts'

const viewer = { name: 'vera', role: 'viewer' } as const

/** Somebody with the file in his hands. */
function tamper(path: string, sql: string): void {
  const db = new DatabaseSync(path)
  db.exec(
    `drop trigger if exists counterfoil_audit_kept; drop trigger if exists counterfoil_audit_whole; ${sql}`,
  )
  db.close()
}

test('a whole log verifies, and names the row that was tampered with when it does not', async () => {
  const program = await new Program().start()
  try {
    const { app, path } = program
    const entry = await program.receive('1')
    for (let version = 1; version <= 5; version++) {
      await assign(app, entry.id, `person ${version}`, { ...act(), expectedVersion: version })
    }
    const whole = await verifyAudit(app, viewer)
    assert.deepEqual([whole.rows, whole.broken, whole.headFound], [5, null, null])
    assert.equal((await verifyAudit(app, viewer, whole.digest)).headFound, true)

    const db = new DatabaseSync(path)
    assert.throws(() => db.exec("update counterfoil_audit set reason = 'x'"), /only appended to/)
    assert.throws(() => db.exec('delete from counterfoil_audit'), /only appended to/)
    db.close()

    tamper(path, 'create table kept as select * from counterfoil_audit')
    tamper(path, 'delete from counterfoil_audit where number = 5')
    const cut = await verifyAudit(app, viewer, whole.digest)
    assert.deepEqual([cut.rows, cut.broken, cut.headFound], [4, null, false])

    tamper(path, "update counterfoil_audit set operator = 'somebody else' where number = 3")
    assert.equal((await verifyAudit(app, viewer)).broken?.number, 3)
    tamper(path, 'delete from counterfoil_audit where number = 3')
    assert.match((await verifyAudit(app, viewer)).broken?.why ?? '', /row 3 is missing/)
    tamper(path, 'delete from counterfoil_audit; insert into counterfoil_audit select * from kept')
    assert.deepEqual((await verifyAudit(app, viewer)).digest, whole.digest)
  } finally {
    await program.dispose()
  }
})

test('a log longer than a page verifies to its end', async () => {
  const program = await new Program().start()
  try {
    const { store } = program.app
    const row = { at: 1, operator: 'dana', role: 'operator', act: 'test', subject: 's', reason: 'r' } as const
    await Promise.all(
      Array.from({ length: 2_050 }, (_, index) =>
        store.audit({ ...row, decision: `d-${index}`, detail: {}, result: {} }),
      ),
    )
    const [newest] = await store.listAudit({ limit: 1 })
    const check = await verifyAudit(program.app, viewer)
    assert.deepEqual([check.rows, check.broken, check.digest], [2_050, null, newest?.digest])
  } finally {
    await program.dispose()
  }
})
