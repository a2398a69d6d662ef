import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import {
  type Contract,
  counterfoil,
  internal,
  type Outcome,
  outcomeOf,
  recipient,
  trigger,
} from 'counterfoil'
import { pg } from 'counterfoil/adapters/pg'
import { postgres } from 'counterfoil/postgres'
import { Pool } from 'pg'
import { PgBoss } from 'pg-boss'
import { z } from 'zod'
import { missing } from '../packages/counterfoil/src/store/postgres/fixtures/binaries.ts'
import { Server } from '../packages/counterfoil/src/store/postgres/fixtures/server.ts'
import { skipLoudly } from '../packages/counterfoil/src/testing/skip.ts'

const major = 18
const why = missing(major)

interface Job {
  readonly invoice: string
  readonly recipient: 'remembers' | 'forgets'
}

/** A recipient that acts, and loses its first answer to each invoice. With `idempotency-key` it acts once a key. */
async function lossyRecipient() {
  const acts: string[] = []
  const keys = new Set<string>()
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const key = request.headers['idempotency-key']
      if (typeof key === 'string' && keys.has(key)) {
        response.end('{}')
        return
      }
      if (typeof key === 'string') keys.add(key)
      acts.push(request.url!)
      response.destroy()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { acts, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const idempotent = {
  idempotency: {
    header: 'Idempotency-Key',
    remembersFor: '24h',
    otherPayload: 'refused',
    replays: 'first-success',
  },
} as const satisfies Contract

describe('an effect made by a job of pg-boss', { skip: why !== undefined }, () => {
  let server: Server
  let pool: Pool
  let boss: PgBoss
  let far: Awaited<ReturnType<typeof lossyRecipient>>
  let app: Awaited<ReturnType<typeof configure>>['app']
  let due: Awaited<ReturnType<typeof configure>>['due']
  const runs: { readonly job: string; readonly outcome: Outcome | 'crashed' }[] = []

  async function configure(url: string) {
    const transactions = pg(pool)
    const billing = internal('billing')
    const due = billing.event('invoice.due', {
      schema: z.object({ invoice: z.string(), recipient: z.enum(['remembers', 'forgets']) }),
    })
    const at = (name: string, contract: Contract) =>
      recipient(name, { url: far.url, allowPrivateAddresses: true, contract })
    const recipients = { remembers: at('remembers', idempotent), forgets: at('forgets', {}) }
    const collectAt = (name: Job['recipient']) =>
      recipients[name].effect('invoice.collect', {
        payload: z.object({ invoice: z.string() }),
        request: ({ invoice }) => ({ method: 'POST', path: `/${name}/${invoice}`, body: { invoice } }),
      })
    const effects = { remembers: collectAt('remembers'), forgets: collectAt('forgets') }
    const app = counterfoil({
      store: postgres(url),
      transactions,
      recipients: Object.values(recipients),
      triggers: [
        trigger('collect what is due', {
          on: due,
          in: transactions,
          plan: ({ data }, { effect }) =>
            effect(
              effects[data.recipient] as never,
              {
                key: `invoice/${data.invoice}/collect/revision/1`,
                payload: { invoice: data.invoice },
              } as never,
            ),
        }),
      ],
      log: () => {},
    })
    await app.start()
    return { app, due, transactions }
  }

  before(async () => {
    server = await Server.start(major)
    const url = server.url()
    pool = new Pool({ connectionString: url, max: 5 })
    pool.on('error', () => {})
    far = await lossyRecipient()
    const { transactions, ...rest } = await configure(url)
    ;({ app, due } = rest)
    boss = new PgBoss({ connectionString: url, supervise: false, schedule: false })
    boss.on('error', () => {})
    await boss.start()
    await boss.createQueue('collect', { retryLimit: 3, retryDelay: 0 })
    await boss.work<Job>('collect', { pollingIntervalSeconds: 0.5 }, async ([job]) => {
      const { id, data } = job!
      const { receipt } = await transactions.run((tx) => app.publish(tx, { type: due, id, data }), {
        timeoutMs: 10_000,
      })
      if (!runs.some((run) => run.job === id)) {
        runs.push({ job: id, outcome: 'crashed' })
        throw new Error('the worker fell after its transaction had committed')
      }
      const outcome = await outcomeOf(app, receipt, { within: data.recipient === 'forgets' ? '2s' : '60s' })
      runs.push({ job: id, outcome })
      return outcome
    })
  })

  after(async () => {
    await boss?.stop({ graceful: false })
    await app?.stop()
    await pool?.end()
    far?.server.closeAllConnections()
    far?.server.close()
    await server?.dispose()
  })

  async function ended(data: Job): Promise<{ readonly state: string; readonly outcome: Outcome }> {
    const id = await boss.send('collect', data)
    for (let looks = 0; looks < 1200; looks++) {
      const [job] = await boss.findJobs('collect', { id: id! })
      if (job?.state === 'completed' || job?.state === 'failed')
        return { state: job.state, outcome: runs.findLast((run) => run.job === id)!.outcome as Outcome }
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    throw new Error('the job does not end')
  }

  test('is one effect though the job ran twice and the answer was lost, and the job ends confirmed', async () => {
    const { state, outcome } = await ended({ invoice: '7', recipient: 'remembers' })
    assert.equal(state, 'completed')
    assert.equal(outcome.kind, 'final')
    assert.deepEqual(outcome.kind === 'final' && outcome.effects.map((effect) => effect.state), ['confirmed'])
    assert.deepEqual(far.acts.filter((path) => path === '/remembers/7').length, 1)
  })

  test('stays unknown at a recipient without idempotency, and the job says so instead of paying twice', async () => {
    const { outcome } = await ended({ invoice: '8', recipient: 'forgets' })
    assert.equal(outcome.kind, 'open')
    assert.deepEqual(outcome.kind === 'open' && outcome.effects.map((effect) => effect.state), ['unknown'])
    assert.deepEqual(far.acts.filter((path) => path === '/forgets/8').length, 1)
  })

  test('that was published under the id of another one is in quarantine, and nobody waits for it', async () => {
    const client = await pool.connect()
    try {
      const publish = async (invoice: string) => {
        await client.query('begin')
        const accepted = await app.publish(client, {
          type: due,
          id: 'same',
          data: { invoice, recipient: 'remembers' },
        })
        await client.query('commit')
        return accepted.receipt
      }
      await publish('9')
      assert.deepEqual(await outcomeOf(app, await publish('10')), {
        kind: 'quarantined',
        reason: 'identity-conflict',
      })
      await assert.rejects(outcomeOf(app, 'rcp_none'), { code: 'not_found' })
    } finally {
      client.release()
    }
  })
})

if (why !== undefined) test('jobs', (t) => skipLoudly(t, why))
