import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { skipLoudly } from '../../testing/skip.ts'
import {
  accepted,
  alice,
  begun,
  bob,
  delivery,
  effectOf,
  leaseMs,
  newEffect,
  planFor,
  plannedEffect,
  rejects,
  settlement,
  start,
  unknownEffect,
} from '../conformance/given.ts'
import type { Store } from '../store.ts'
import { missing } from './fixtures/binaries.ts'
import { ledgerFaults } from './fixtures/ledger-faults.ts'
import { type Cut, CuttingProxy } from './fixtures/proxy.ts'
import { Server } from './fixtures/server.ts'
import { postgres } from './index.ts'

const why = missing(18)
const options = { schema: 'cut', clock: 'caller' } as const

describe('a connection that is cut between a commit and its answer', () => {
  if (why !== undefined) {
    test('PostgreSQL', (t) => skipLoudly(t, why))
    return
  }
  let server: Server
  let proxy: CuttingProxy
  /** Sees everything through the proxy; the other does not. */
  let store: Store
  let direct: Store

  before(async () => {
    server = await Server.start(18)
    proxy = await CuttingProxy.start(() => server.port)
    store = postgres(proxy.url, options)
    direct = postgres(server.url(), options)
    await direct.open({ migrate: true })
    await store.open({ migrate: false })
  })
  after(async () => {
    await store?.close()
    await direct?.close()
    await proxy?.dispose()
    await server.dispose()
  })

  /** The call is told that nobody knows, and the cut was made where it should be. */
  async function cutAt(cut: Cut, call: () => Promise<unknown>): Promise<void> {
    const made = proxy.arm(cut)
    await rejects(call(), 'commit_unknown')
    await made
  }

  for (const when of ['before', 'after'] as const) {
    const committed = when === 'after'
    const reality = committed ? 'which was committed' : 'which never came to the server'

    test(`an accept ${reality}: sent again, it is one receipt with one outbox record`, async () => {
      const event = `accept ${when}`
      await cutAt({ text: 'counterfoil_accept', when }, () => store.accept(delivery({ event })))
      const again = await store.accept(delivery({ event }))
      assert.equal(again.outcome, committed ? 'duplicate' : 'accepted')
      assert.equal(await count('receipt where event_id = $1', event), 1)
      assert.equal(
        await count('outbox o join cut.receipt r on r.seq = o.receipt where event_id = $1', event),
        1,
      )
    })

    test(`accepts that shared a commit ${reality}: all are told, none is doubled`, async () => {
      const events = Array.from({ length: 40 }, (_, index) => `shared ${when} ${index}`)
      const made = proxy.arm({ text: 'counterfoil_accept', when })
      const results = await Promise.allSettled(events.map((event) => store.accept(delivery({ event }))))
      await made
      const unknown = results.filter((result) => result.status === 'rejected')
      assert.ok(unknown.length > 0)
      for (const { reason } of unknown) assert.equal(reason.code, 'commit_unknown')
      const again = await Promise.all(events.map((event) => store.accept(delivery({ event }))))
      for (const [index, { outcome }] of again.entries()) {
        const known = committed || results[index]!.status === 'fulfilled'
        assert.equal(outcome, known ? 'duplicate' : 'accepted')
      }
      assert.equal(await count("receipt where event_id like $1 || '%'", `shared ${when} `), 40)
    })

    test(`a plan ${reality}: sent again, its effect is there once`, async () => {
      const plan = planFor(await accepted(store), newEffect({ key: `plan ${when}` }))
      await cutAt({ text: 'counterfoil_plan', when }, () => store.plan(plan))
      const again = await store.plan(plan)
      assert.equal(again.kind, committed ? 'consumed' : 'planned')
      assert.equal(await count('effect where key = $1', `plan ${when}`), 1)
      assert.equal((await direct.showReceipt(plan.receipt))?.receipt.state, 'planned')
    })

    test(`a trigger’s commit ${reality}: its own row is there once, and only with the effect`, async () => {
      await server.query('create table if not exists cut_seat (id text)')
      const plan = planFor(await accepted(store), newEffect({ key: `session ${when}` }))
      const attempt = async () => {
        const session = await store.beginPlan({ timeoutMs: 5_000 })
        await session.run('insert into cut_seat values ($1)', when)
        return await session.commit(plan)
      }
      // The Query message itself: its text begins with the statement.
      await cutAt({ text: 'commit\0', when }, attempt)
      assert.equal((await attempt()).kind, committed ? 'consumed' : 'planned')
      const rows = await server.query('select id from cut_seat where id = $1', [when])
      assert.equal(rows.length, 1)
      assert.equal(await count('effect where key = $1', `session ${when}`), 1)
    })

    test(`a begin ${reality}: there is one attempt, and nobody else has it while its lease runs`, async () => {
      const { id, recipient } = await plannedEffect(store, { recipient: `begin ${when}` })
      const take = (now: number) => store.takeDue({ worker: alice, now, leaseMs, slots: { [recipient]: 9 } })
      await cutAt({ text: 'counterfoil_take_due', when }, () => take(start))
      const [work, ...others] = await take(start + 1)
      assert.equal(others.length, 0)
      assert.equal(work?.kind, committed ? undefined : 'attempt')
      assert.equal((await effectOf(direct, id)).attempts.length, 1)
      // What was begun and never sent comes up when its lease ended, as unknown work does.
      const [due] = await take(start + 1 + leaseMs)
      assert.equal(due?.kind, 'attention')
      assert.equal(due?.effect.attempts.length, 1)
    })

    test(`a repeat ${reality}: there are two attempts, never three`, async () => {
      const { id, version } = await unknownEffect(store)
      const repeat = { effect: id, expectedVersion: version, worker: bob, now: start + 70_000, leaseMs }
      await cutAt({ text: 'counterfoil_begin_repeat', when }, () => store.beginRepeat(repeat))
      const again = await store.beginRepeat(repeat)
      assert.equal(again === null, committed)
      assert.equal((await effectOf(direct, id)).attempts.length, 2)
    })

    test(`a settlement ${reality}: sent again, it is settled once`, async () => {
      const work = await begun(store)
      const confirmed = settlement(work, { to: 'confirmed', alert: { reason: `settle ${when}`, owner: 'o' } })
      await cutAt({ text: 'counterfoil_settle', when }, () => store.settle(confirmed))
      const again = await store.settle(confirmed)
      assert.equal(again.kind, committed ? 'stale' : 'settled')
      const effect = await effectOf(direct, work.effect.id)
      assert.deepEqual([effect.state, effect.version], ['confirmed', work.effect.version + 1])
      assert.equal(await count('alert where reason = $1', `settle ${when}`), 1)
      assert.equal(
        (await direct.status()).effects.byState.confirmed,
        await count('final where state = $1', 'confirmed'),
      )
    })
  }

  test('a cut while reading says that the store is unavailable, and the next call goes on', async () => {
    const made = proxy.arm({ text: 'counterfoil_status', when: 'after' })
    await rejects(store.status(), 'store_unavailable')
    await made
    assert.ok((await store.status()).receipts.total > 0)
  })

  test('when every connection is cut, idle ones are replaced and work goes on', async () => {
    proxy.cutAll()
    for (let tries = 0; ; tries++) {
      const answer = await store.accept(delivery({ event: 'after the cut' })).catch((error: unknown) => error)
      if (!(answer instanceof Error)) break
      assert.ok(tries < 50, String(answer))
    }
    assert.equal(await count('receipt where event_id = $1', 'after the cut'), 1)
  })

  test('after all of it the records are whole', async () => {
    assert.deepEqual(await ledgerFaults(server, 'cut'), [])
  })

  async function count(from: string, parameter: string): Promise<number> {
    const [row] = await server.query(`select count(*)::int as rows from cut.${from}`, [parameter])
    return row!.rows as number
  }
})
