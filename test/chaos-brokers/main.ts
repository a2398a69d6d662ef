/**
 * A cluster of three NATS servers, PostgreSQL and four processes between two places of the broker: the leader of the stream, a
 * process and the database are killed in turn under load. Nothing is lost, each effect is there once and in its turn.
 *
 *     npm run chaos:brokers -- --strikes 12 --customers 20 --each 60
 *
 * Exits with 0 when nothing was broken.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Server } from '../../packages/counterfoil/src/store/postgres/fixtures/server.ts'
import { postgres } from '../../packages/counterfoil/src/store/postgres/index.ts'
import { message, untilConfirmed } from '../../packages/counterfoil/src/transports/conformance.ts'
import { NatsPublisher } from '../../packages/counterfoil/src/transports/nats/publisher.ts'
import { Cluster } from './cluster.ts'
import { verdict } from './verdict.ts'
import { Workers } from './workers.ts'

const { values } = parseArgs({
  options: {
    strikes: { type: 'string', default: '12' },
    customers: { type: 'string', default: '20' },
    each: { type: 'string', default: '60' },
  },
})
const strikes = Number(values.strikes)
const customers = Array.from({ length: Number(values.customers) }, (_, n) => `customer-${n + 1}`)
const each = Number(values.each)
const begun = performance.now()

const cluster = await Cluster.start()
const server = await Server.start(18)
const places = {
  broker: 'nats',
  server: cluster.servers,
  from: 'tests.in',
  to: 'tests.out',
  perCustomer: true,
}
const workers = new Workers(places, server.url())
const store = postgres(server.url())
try {
  await store.open({ migrate: true })
  await workers.start(4)
  let struck = 0
  let sending = true
  const striking = (async () => {
    const kinds = [
      async () => await cluster.killLeader(),
      async () => {
        await workers.kill(struck % 4)
        return async () => {}
      },
      async () => {
        await server.kill('SIGKILL')
        return async () => await runAgain()
      },
    ]
    while (struck < strikes || sending) {
      const mend = await kinds[struck % kinds.length]!()
      await sleep(1_500)
      await mend()
      struck++
      process.stderr.write(`\r${struck} strikes `)
      await sleep(2_500)
    }
  })()
  const sent = await sendAll()
  sending = false
  await striking
  await rest(sent.length)
  const codes = await workers.stop()
  const violations = await verdict({ cluster, store, sent, customers, each })
  for (const code of codes)
    if (code !== 0) violations.push(`a process was asked to stop and ended with ${code}`)
  const { total } = (await store.status()).effects
  const result = { strikes: struck, sent: sent.length, effects: total, starts: workers.starts }
  const seconds = Math.round((performance.now() - begun) / 1000)
  process.stdout.write(
    `\n${JSON.stringify({ ...result, seconds, violations: violations.slice(0, 20) }, null, 2)}\n`,
  )
  process.exitCode = violations.length === 0 ? 0 : 1
} finally {
  await workers.stop()
  await store.close()
  await cluster.dispose()
  await server.dispose()
}

/** Each customer's events, one when the one before is planned. */
async function sendAll(): Promise<string[]> {
  const planned = new Set<string>()
  const looking = setInterval(() => void look(planned), 100)
  const publisher = new NatsPublisher({
    servers: { servers: cluster.servers },
    stream: 'TESTS',
    subjectPerDomain: false,
  })
  const sent: string[] = []
  const ofOne = async (customer: string) => {
    for (let version = 1; version <= each; version++) {
      const id = `evt_${customer}_${version}`
      await untilConfirmed(publisher, message(places.from, { id, data: { customer, version } }))
      sent.push(id)
      // Spread over the strikes; and what is planned after a later version has no turn to keep.
      await sleep((strikes * 4_000) / each)
      while (!planned.has(id)) await sleep(50)
    }
  }
  await Promise.all(customers.map(ofOne))
  clearInterval(looking)
  await publisher.close()
  return sent
}

async function look(planned: Set<string>): Promise<void> {
  const text = 'select event_id from counterfoil.receipt r join counterfoil.plan p on p.receipt = r.seq'
  const rows = await server.query(text).catch(() => [])
  for (const { event_id: id } of rows) planned.add(id)
}

async function rest(count: number): Promise<void> {
  for (let tries = 0; tries < 1_200; tries++) {
    const confirmed = await store.status().then(
      ({ effects }) => effects.byState.confirmed,
      () => 0,
    )
    if (confirmed >= count && workers.areReady) return
    await sleep(250)
  }
}

/** Its children notice in their own time that the postmaster is gone. */
async function runAgain(): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await server.run()
    } catch (error) {
      if (tries === 20) throw error
      await sleep(250)
    }
  }
}
