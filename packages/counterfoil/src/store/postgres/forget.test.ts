import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dawn, day, RetentionWorld, vault } from '../../engine/fixtures/retention-world.ts'
import { describeOn } from './fixtures/describe-on.ts'
import { postgres } from './index.ts'

const periods = { payloadMs: day, evidenceMs: 2 * day, boundaryMs: 400 * day, effectKeysMs: null }
const count = 500

describeOn(18, 'retention on PostgreSQL', (server) => {
  test('the room of what went is used again: as much once more does not make the tables grow', async () => {
    const store = postgres(server.url(), { schema: 'sizes', clock: 'caller' })
    await store.open({ migrate: true, vault })
    const world = new RetentionWorld(store, 1_000)
    const fill = async (name: string, at: number) => {
      const ids = Array.from({ length: count }, (_, index) => `${name}_${index}`)
      await Promise.all(ids.map((id) => world.deliver({ id, key: id, eventAt: at }, at)))
      await world.confirm(at)
      await world.confirm(at)
    }
    const sizes = async () => {
      const rows = await server.query(
        `select relname, pg_total_relation_size(oid)::int as bytes from pg_class
         where relnamespace = 'sizes'::regnamespace and relname in ('receipt', 'vault', 'effect', 'request', 'evidence', 'attempt', 'final')`,
      )
      return new Map(rows.map(({ relname, bytes }) => [relname as string, bytes as number]))
    }
    await fill('first', dawn)
    const full = await sizes()
    const totals = await world.retain(periods, dawn + 3 * day)
    assert.equal(totals.find(({ step }) => step === 'receipts')?.count, count)
    await server.query('vacuum')
    const emptied = await sizes()
    const sum = (of: typeof full) => [...of.values()].reduce((a, b) => a + b, 0)
    assert.ok(sum(emptied) < sum(full) / 2, `${sum(full)} bytes became ${sum(emptied)}`)
    await fill('second', dawn + 3 * day)
    const again = await sizes()
    assert.ok(sum(again) <= sum(full) * 1.2, `${sum(full)} bytes became ${sum(again)}`)

    assert.deepEqual((await store.retention()).markers, { receipts: count, effects: count })
    const known = await world.deliver({ id: 'first_0', key: 'first_0', eventAt: dawn }, dawn + 4 * day)
    assert.deepEqual(known, { outcome: 'duplicate', created: false })
    const shared = await world.deliver({ id: 'other', key: 'first_0', eventAt: dawn }, dawn + 4 * day)
    assert.deepEqual(shared, { outcome: 'accepted', created: false })
    await store.close()
  })
})
