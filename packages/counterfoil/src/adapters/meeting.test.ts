import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it, test } from 'node:test'
import { Client, Pool } from 'pg'
import { type Counterfoil, counterfoil, internal, trigger } from '../index.ts'
import { missing } from '../store/postgres/fixtures/binaries.ts'
import { Server } from '../store/postgres/fixtures/server.ts'
import { postgres } from '../store/postgres/index.ts'
import { skipLoudly } from '../testing/skip.ts'
import { pg } from './pg.ts'

// Two transactions of the program that publish one identity, at each isolation level that makes a difference.

const why = missing(18)
const placed = internal('shop').event('order.placed')
process.env.COUNTERFOIL_VAULT_KEYS = `test:${Buffer.alloc(32, 7).toString('base64')}`

describe('two that publish one event at the same time', () => {
  if (why !== undefined) {
    test('PostgreSQL', (t) => skipLoudly(t, why))
    return
  }
  let server: Server
  let pool: Pool
  let app: Counterfoil<import('pg').ClientBase>
  let [one, two]: Client[] = []
  let made = 0
  let id = ''

  before(async () => {
    server = await Server.start(18)
    pool = new Pool({ connectionString: server.url() })
    one = new Client(server.url())
    two = new Client(server.url())
    await Promise.all([one.connect(), two.connect()])
    const transactions = pg(pool)
    app = counterfoil({
      store: postgres(server.url()),
      transactions,
      recipients: [],
      triggers: [trigger('nothing', { on: placed, in: transactions, plan: () => {} })],
      log: () => {},
    })
    await app.start({ work: false })
  })
  beforeEach(() => {
    id = `order/${++made}`
  })
  after(async () => {
    await app?.stop()
    await Promise.all([one?.end(), two?.end(), pool?.end()])
    await server?.dispose()
  })

  const publish = (client: Client, data: unknown = 1) => app.publish(client, { type: placed, id, data })
  /** Until a statement of this client waits for another transaction. */
  const waits = async (client: Client) => {
    const { processID } = client as unknown as { processID: number }
    for (;;) {
      const [row] = await server.query('select wait_event_type from pg_stat_activity where pid = $1', [
        processID,
      ])
      if (row?.wait_event_type === 'Lock') return
    }
  }

  it('the second waits for the first, and is its duplicate once that commits', async () => {
    await Promise.all([one!.query('begin'), two!.query('begin')])
    const first = await publish(one!)
    const second = publish(two!)
    await waits(two!)
    await one!.query('commit')
    assert.deepEqual(await second, { outcome: 'duplicate', receipt: first.receipt })
    await two!.query('commit')
  })

  it('the second is the event when the first rolls back', async () => {
    await Promise.all([one!.query('begin'), two!.query('begin')])
    const first = await publish(one!)
    const second = publish(two!)
    await waits(two!)
    await one!.query('rollback')
    const accepted = await second
    assert.equal(accepted.outcome, 'accepted')
    assert.notEqual(accepted.receipt, first.receipt)
    await two!.query('commit')
    assert.equal((await app.store.showReceipt(accepted.receipt))?.receipt.eventId, id)
    assert.equal(await app.store.showReceipt(first.receipt), null)
  })

  it('the second is a conflict when the first commits other content', async () => {
    await Promise.all([one!.query('begin'), two!.query('begin')])
    const first = await publish(one!, 'this')
    const second = publish(two!, 'that')
    await waits(two!)
    await one!.query('commit')
    const conflict = await second
    assert.deepEqual(
      [conflict.outcome, conflict.outcome === 'conflict' && conflict.first],
      ['conflict', first.receipt],
    )
    await two!.query('commit')
    assert.equal((await app.store.showReceipt(conflict.receipt))?.quarantine?.reason, 'identity-conflict')
  })

  it('one whose snapshot is older than the first is told to do it again, by the client’s own serialization failure', async () => {
    await two!.query('begin isolation level repeatable read')
    await two!.query('select 1 from counterfoil.receipt')
    await one!.query('begin')
    const first = await publish(one!)
    await one!.query('commit')
    await assert.rejects(publish(two!), (error: Error & { code?: string }) => {
      assert.deepEqual([error.code, (error.cause as { code?: string }).code], ['store_busy', '40001'])
      return true
    })
    await two!.query('rollback')
    // Done again, as the program does with its own statements.
    await two!.query('begin isolation level repeatable read')
    assert.deepEqual(await publish(two!), { outcome: 'duplicate', receipt: first.receipt })
    await two!.query('commit')
  })

  it('a transaction in which a statement failed is refused before anything else fails in it', async () => {
    await one!.query('begin')
    await assert.rejects(one!.query('select 1/0'))
    await assert.rejects(publish(one!), { code: 'transaction_missing' })
    // The driver tells of the failure before it hears of the transaction.
    const unaware = new Proxy(one!, {
      get(client, name: keyof Client) {
        if (name === 'getTransactionStatus') return () => 'T'
        const member = client[name] as unknown
        return typeof member === 'function' ? member.bind(client) : member
      },
    })
    await assert.rejects(publish(unaware), { code: 'transaction_missing' })
    await one!.query('rollback')
  })
})
