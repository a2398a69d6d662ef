import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { postgres } from 'counterfoil/postgres'
import { missing } from '../packages/counterfoil/src/store/postgres/fixtures/binaries.ts'
import { CuttingProxy } from '../packages/counterfoil/src/store/postgres/fixtures/proxy.ts'
import { Server } from '../packages/counterfoil/src/store/postgres/fixtures/server.ts'
import { skipLoudly } from '../packages/counterfoil/src/testing/skip.ts'
import { disposeWorlds, World } from './world.ts'

const why = missing(15)

describe('an app whose connection is cut between the commit of a receipt and its answer', () => {
  if (why !== undefined) {
    test('PostgreSQL 15', (t) => skipLoudly(t, why))
    return
  }
  let server: Server
  let proxy: CuttingProxy
  before(async () => {
    process.env.COUNTERFOIL_VAULT_KEYS = `test:${Buffer.alloc(32, 'k').toString('base64')}`
    server = await Server.start(15)
    proxy = await CuttingProxy.start(() => server.port)
  })
  afterEach(disposeWorlds)
  after(async () => {
    await proxy.dispose()
    await server.dispose()
  })

  for (const when of ['before', 'after'] as const) {
    test(`answers 503, never 2xx; the sender sends again and gets its receipt (cut ${when} the server had it)`, async () => {
      const store = () => postgres(proxy.url, { schema: `intake_${when}`, clock: 'caller' })
      const world = new World({ shape: 'both', database: { store, placeholder: '$1' } })
      await world.start()
      const made = proxy.arm({ text: 'counterfoil_accept', when })
      const answer = await world.deliver('481')
      await made
      assert.deepEqual(answer, { status: 503, outcome: undefined })
      const again = await world.deliver('481')
      assert.equal(again?.status, when === 'after' ? 200 : 202)
      await world.settle(60_000)
      assert.deepEqual(await world.violations(), [])
      assert.equal(world.recipient.acts.length, 1)
      assert.equal((await world.app.store.status()).receipts.total, 1)
    })
  }
})
