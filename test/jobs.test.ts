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
import { z } from 'zod'
import { missing } from '../packages/counterfoil/src/store/postgres/fixtures/binaries.ts'
import { Server } from '../packages/counterfoil/src/store/postgres/fixtures/server.ts'
import { debianProgram } from '../packages/counterfoil/src/testing/debian-program.ts'
import { skipLoudly } from '../packages/counterfoil/src/testing/skip.ts'
import { bullmq } from './fixtures/jobs/bullmq.ts'
import { dbos } from './fixtures/jobs/dbos.ts'
import { pgBoss } from './fixtures/jobs/pg-boss.ts'
import type { Job, Running, Work } from './fixtures/jobs/runner.ts'
import { temporal } from './fixtures/jobs/temporal.ts'

const major = 18
const why = missing(major)
const withoutRedis = debianProgram('redis-server', 'redis-server') === undefined
const runners = [pgBoss, dbos, temporal, ...(withoutRedis ? [] : [bullmq])]

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

describe('an effect made by a job', { skip: why !== undefined }, () => {
  let server: Server
  let pool: Pool
  let far: Awaited<ReturnType<typeof lossyRecipient>>
  let app: Awaited<ReturnType<typeof configure>>['app']
  let due: Awaited<ReturnType<typeof configure>>['due']
  let work: Work
  const fallen = new Set<string>()

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
    work = async (id, data) => {
      const { receipt } = await transactions.run((tx) => app.publish(tx, { type: due, id, data }), {
        timeoutMs: 10_000,
      })
      if (!fallen.has(id)) {
        fallen.add(id)
        throw new Error('the worker fell after its transaction had committed')
      }
      return await outcomeOf(app, receipt, { within: data.recipient === 'forgets' ? '2s' : '60s' })
    }
  })

  after(async () => {
    await app?.stop()
    await pool?.end()
    far?.server.closeAllConnections()
    far?.server.close()
    await server?.dispose()
  })

  for (const { name, start } of runners) {
    describe(`of ${name}`, () => {
      let running: Running
      before(async () => {
        const own = name.replaceAll(/\W/g, '').toLowerCase()
        await server.query(`create database ${own}`)
        running = await start((id, job) => work(id, job), server.url().replace(/\w+$/, own))
      })
      after(async () => await running?.stop())

      test('is one though the job ran twice and the answer was lost, and the job ends confirmed', async () => {
        const ran = fallen.size
        const outcome = (await running.run({ invoice: name, recipient: 'remembers' })) as Outcome
        assert.equal(fallen.size, ran + 1, 'it fell once')
        assert.equal(outcome.kind, 'final')
        assert.deepEqual(outcome.kind === 'final' && outcome.effects.map(({ state }) => state), ['confirmed'])
        assert.deepEqual(actsOf('remembers', name), 1)
      })

      test('stays unknown at a recipient without idempotency, and the job says so instead of paying twice', async () => {
        const outcome = (await running.run({ invoice: name, recipient: 'forgets' })) as Outcome
        assert.equal(outcome.kind, 'open')
        assert.deepEqual(outcome.kind === 'open' && outcome.effects.map(({ state }) => state), ['unknown'])
        assert.deepEqual(actsOf('forgets', name), 1)
      })
    })
  }

  const actsOf = (recipient: string, invoice: string): number =>
    far.acts.filter((path) => path === `/${recipient}/${invoice}`).length

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
if (withoutRedis) test('jobs of BullMQ', (t) => skipLoudly(t, 'redis-server cannot be had here'))
