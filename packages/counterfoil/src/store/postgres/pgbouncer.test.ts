import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { debianProgram } from '../../testing/debian-program.ts'
import { freePort } from '../../testing/free-port.ts'
import {
  accepted,
  alice,
  delivery,
  leaseMs,
  newEffect,
  planFor,
  rejects,
  settlement,
  start,
} from '../conformance/given.ts'
import type { Store } from '../store.ts'
import { missing, must, serverUser } from './fixtures/binaries.ts'
import { describeOn } from './fixtures/describe-on.ts'
import { until } from './fixtures/standby.ts'
import { postgres } from './index.ts'

const pgbouncer = missing(15) === undefined ? (debianProgram('pgbouncer', 'pgbouncer') ?? '') : ''
const why = missing(15) ?? (pgbouncer === '' ? 'it needs pgbouncer (Debian package pgbouncer)' : undefined)

describeOn(
  15,
  'behind PgBouncer in transaction mode',
  (server) => {
    let bouncer: ChildProcess
    let store: Store
    let directory: string
    let port: number

    before(async () => {
      port = await freePort()
      directory = mkdtempSync(join(tmpdir(), 'counterfoil-bouncer-'))
      writeFileSync(join(directory, 'users.txt'), '"postgres" ""\n')
      const config = join(directory, 'pgbouncer.ini')
      writeFileSync(
        config,
        `[databases]
* = host=127.0.0.1 port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(directory, 'users.txt')}
pool_mode = transaction
default_pool_size = 3
`,
      )
      if (serverUser.uid !== undefined)
        must('chown', ['-R', `${serverUser.uid}:${serverUser.gid}`, directory])
      bouncer = spawn(pgbouncer, [config], { ...serverUser, cwd: '/', stdio: 'ignore' })
      store = postgres(`postgres://postgres@127.0.0.1:${port}/postgres`, {
        clock: 'caller',
        pooler: 'transaction',
        listenUrl: server.url(),
      })
      await until('PgBouncer answers', () =>
        store.open({ migrate: true }).then(
          () => true,
          () => false,
        ),
      )
    })
    after(async () => {
      await store?.close()
      bouncer?.kill('SIGKILL')
      if (directory !== undefined) rmSync(directory, { recursive: true, force: true })
    })

    test('accepts, plans, attempts and settles, many at once on three server connections', async () => {
      const records = await Promise.all(Array.from({ length: 200 }, () => accepted(store)))
      const planned = await Promise.all(records.map((record) => store.plan(planFor(record, newEffect()))))
      assert.ok(planned.every(({ kind }) => kind === 'planned'))
      const works = await store.takeDue({ worker: alice, now: start, leaseMs, slots: { bank: 500 } })
      const settled = await Promise.all(
        works.map((work) => store.settle(settlement(work as never, { to: 'confirmed' }))),
      )
      assert.equal(settled.filter(({ kind }) => kind === 'settled').length, 200)
      assert.equal((await store.status()).effects.byState.confirmed, 200)
    })

    test('events that came together, and a trigger’s transaction, stay on one server', async () => {
      const answers = await store.acceptAll([
        delivery({ event: 'a' }),
        delivery({ event: 'a' }),
        delivery({ event: 'b' }),
      ])
      assert.deepEqual(
        answers.map(({ outcome }) => outcome),
        ['accepted', 'duplicate', 'accepted'],
      )
      const record = await accepted(store)
      const sessions = await Promise.all([
        store.beginPlan({ timeoutMs: 5_000 }),
        store.beginPlan({ timeoutMs: 5_000 }),
      ])
      await sessions[0].run('create table customer (name text)')
      await sessions[0].run("insert into customer values ('one')")
      await rejects(sessions[1].all('select * from customer'), 'statement_failed')
      assert.equal((await sessions[0].commit(planFor(record, newEffect()))).kind, 'planned')
      assert.equal((await server.query('select 1 from customer')).length, 1)
    })

    test('hints come by way of the server’s own address', async () => {
      let hints = 0
      const end = store.watch!(() => hints++)
      await until('it listens', async () => hints > 0)
      const before = hints
      await accepted(store)
      await until('the hint came', async () => hints > before)
      end()
    })

    test('a role that does not wait for the disk is refused, as nothing can be set', async () => {
      await server.query('create role hasty login')
      await server.query('alter role hasty set synchronous_commit = off')
      writeFileSync(join(directory, 'users.txt'), '"postgres" ""\n"hasty" ""\n')
      bouncer.kill('SIGHUP')
      const hasty = postgres(`postgres://hasty@127.0.0.1:${port}/postgres`, { pooler: 'transaction' })
      await until('the user is known', async () => {
        const error = await hasty.open({ migrate: false }).catch((told: Error) => told)
        return error instanceof Error && /synchronous_commit = off/.test(error.message)
      })
      await rejects(hasty.open({ migrate: false }), 'store_unavailable')
    })
  },
  { why },
)
