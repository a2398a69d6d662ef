import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { type Contract, counterfoil, producer, publishedContract, recipient, trigger } from 'counterfoil'
import { standardWebhooks } from 'counterfoil/producers'
import { sqlite } from 'counterfoil/sqlite'
import { Webhook } from 'standardwebhooks'
import { z } from 'zod'
import { RunningService } from '../packages/counterfoil/src/guard/fixtures/running-service.ts'

const secret = `whsec_${Buffer.from('a secret that only tests know 123').toString('base64')}`

/** A network that holds the first request back, and delivers it when told, whether its sender still waits or not. */
async function holdingProxy(target: string) {
  const { port } = new URL(target)
  const held: Buffer[] = []
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    sockets.add(client)
    client.on('error', () => {})
    client.once('data', (first) => {
      if (held.length === 0 && first.toString('latin1').startsWith('POST /seats')) {
        held.push(first)
        client.on('data', (more) => held.push(more))
        return
      }
      const upstream = connect(Number(port), '127.0.0.1')
      sockets.add(upstream)
      upstream.on('error', () => client.destroy())
      upstream.write(first)
      client.pipe(upstream).pipe(client)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    holds: () => held.length > 0,
    /** The status that the late request gets. */
    async deliver(): Promise<number> {
      const upstream = connect(Number(port), '127.0.0.1')
      sockets.add(upstream)
      upstream.write(Buffer.concat(held))
      const [answer] = (await once(upstream, 'data')) as [Buffer]
      return Number(/^HTTP\/1\.1 (\d+)/.exec(answer.toString('latin1'))?.[1])
    },
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

/** A service, a proxy before it and an engine that sends through it; runs until the effect is as wanted. */
async function scenario(kind: 'plain' | 'sqlite', contractAt: (url: string) => Promise<Contract>) {
  const directory = mkdtempSync(join(tmpdir(), 'counterfoil-stalled-'))
  const file = join(directory, 'service.db')
  const service = await RunningService.start(kind, file)
  const proxy = await holdingProxy(service.url)
  const contract = await contractAt(proxy.url)
  const seats = recipient('seats', {
    url: proxy.url,
    contract,
    timeout: '400ms',
    allowPrivateAddresses: true,
  })
  const open = seats.effect('seat.open', {
    payload: z.object({ seat: z.string() }),
    request: (payload) => ({ method: 'POST', path: '/seats', body: payload }),
  })
  const standard = producer('standard', standardWebhooks({ secrets: secret }))
  const paid = standard.event('invoice.paid', { schema: z.object({ id: z.string() }) })
  const app = counterfoil({
    store: sqlite(join(directory, 'counterfoil.db')),
    recipients: [seats],
    triggers: [
      trigger('open a seat', {
        on: paid,
        plan: ({ data }, { effect }) => effect(open, { key: `seat/${data.id}`, payload: { seat: data.id } }),
      }),
    ],
    log: () => {},
  })
  await app.start()
  const body = JSON.stringify({
    type: 'invoice.paid',
    timestamp: new Date().toISOString(),
    data: { id: '481' },
  })
  const now = new Date()
  const headers = {
    'content-type': 'application/json',
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign('msg_1', now, body),
  }
  await app.receive(new Request('http://counterfoil.test/in/standard', { method: 'POST', headers, body }))
  const state = async () => (await app.store.listEffects({ limit: 1 }))[0]?.state
  return {
    proxy,
    state,
    async reaches(wanted: string) {
      for (let tries = 0; (await state()) !== wanted || !proxy.holds(); tries++) {
        assert.ok(tries < 1_000, `the effect is ${await state()}, not ${wanted}`)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    },
    seats() {
      using db = new DatabaseSync(file)
      return Number(db.prepare('select count(*) as n from seat').get()?.n)
    },
    async dispose() {
      await app.stop()
      proxy.close()
      await service.kill()
      rmSync(directory, { recursive: true })
    },
  }
}

test('without a guard a stalled request leaves the effect unknown, and rightly so: it acts later', async () => {
  const run = await scenario('plain', async () => ({}))
  try {
    await run.reaches('unknown')
    assert.equal(run.seats(), 0)
    assert.equal(await run.proxy.deliver(), 201)
    assert.deepEqual([run.seats(), await run.state()], [1, 'unknown'])
  } finally {
    await run.dispose()
  }
})

test('with a guard its key makes it safe: the repeat acts, and what was held back lands as a replay', async () => {
  const run = await scenario('sqlite', (url) => publishedContract(url, { allowPrivateAddresses: true }))
  try {
    await run.reaches('confirmed')
    assert.equal(await run.proxy.deliver(), 201)
    assert.equal(run.seats(), 1)
  } finally {
    await run.dispose()
  }
})

test("with a guard's tombstone the hole is closed for good: withdrawn, and what was held back never acts", async () => {
  const run = await scenario('sqlite', async (url) => {
    const { lookup: _, idempotency, ...rest } = await publishedContract(url, { allowPrivateAddresses: true })
    const { marker: _marker, ...key } = idempotency!
    return { ...rest, idempotency: { ...key, replays: 'nothing' } }
  })
  try {
    await run.reaches('withdrawn')
    assert.equal(await run.proxy.deliver(), 412)
    assert.equal(run.seats(), 0)
  } finally {
    await run.dispose()
  }
})
