import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Webhook as OfficialVerifier } from 'standardwebhooks'
import { counterfoil } from '../../counterfoil.ts'
import { trigger } from '../../engine/index.ts'
import { cloudEvents } from '../../intake/cloudevents/index.ts'
import { producer } from '../../intake/index.ts'
import { standardWebhooks } from '../../intake/producers/index.ts'
import { sqlite } from '../../store/sqlite/index.ts'
import {
  type Endpoint,
  type EndpointHealth,
  healthy,
  type Webhooks,
  type WebhooksOptions,
  webhooks,
} from './index.ts'

const oldSecret = `whsec_${Buffer.alloc(24, 'old').toString('base64')}`
const newSecret = `whsec_${Buffer.alloc(32, 'new').toString('base64')}`
const pair = generateKeyPairSync('ed25519')
const seed = pair.privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32)
const publicBytes = pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
const privateKey = `whsk_${seed.toString('base64')}`
const publicKey = `whpk_${publicBytes.toString('base64')}`

interface Seen {
  readonly headers: Record<string, string>
  readonly body: string
}

/** A customer's endpoint; `answer` gives a status, or null for none. */
async function customer(t: TestContext, answer: (number: number) => number | null) {
  const seen: Seen[] = []
  let open = 0
  let most = 0
  const server: Server = createServer(async (request: IncomingMessage, response) => {
    most = Math.max(most, ++open)
    response.once('close', () => open--)
    let body = ''
    for await (const chunk of request) body += chunk
    seen.push({ headers: request.headers as Record<string, string>, body })
    const status = answer(seen.length)
    if (status !== null) response.writeHead(status).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { seen, most: () => most, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` }
}

async function program(t: TestContext, hooks: Webhooks) {
  const directory = mkdtempSync(join(tmpdir(), 'counterfoil-webhooks-'))
  const alerts: { reason: string; effect: string | null }[] = []
  const lines: string[] = []
  const news = producer('news', cloudEvents({ anyone: true }))
  const app = counterfoil({
    store: sqlite(join(directory, 'ledger.db')),
    recipients: [hooks],
    triggers: [
      trigger('tell the tenant', {
        on: news.event('invoice.paid'),
        plan: async ({ id, data }, { effect }) => {
          const { tenant } = data as { tenant: string }
          const message = { type: 'invoice.paid', timestamp: '2026-01-31T12:00:00Z', data: data as never }
          await hooks.send(effect, { tenant, key: `invoice/${id}/paid`, ...message })
        },
      }),
    ],
    onAlert: (alert) => void alerts.push(alert),
    poll: '50ms',
    log: (level, message, about) => lines.push(JSON.stringify([level, message, about])),
  })
  await app.start()
  t.after(async () => {
    await app.stop()
    rmSync(directory, { recursive: true, force: true })
  })
  let made = 0
  const happens = async (tenant: string) => {
    const body = JSON.stringify({
      specversion: '1.0',
      id: `${++made}`,
      source: '/t',
      type: 'invoice.paid',
      data: { tenant, made },
    })
    const headers = { 'content-type': 'application/cloudevents+json' }
    const answer = await app.receive(new Request('http://x/in/news', { method: 'POST', headers, body }))
    assert.equal(answer.status, 202)
  }
  const everythingWritten = () =>
    lines.join('\n') +
    readdirSync(directory)
      .filter((name) => name.startsWith('ledger.db') && !name.endsWith('key'))
      .map((name) => readFileSync(join(directory, name), 'latin1'))
      .join('')
  return { app, alerts, happens, everythingWritten }
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await wait(10)
}

function endpoint(id: string, url: string, about: Partial<Endpoint> = {}): Endpoint {
  return { id, tenant: 'acme', url, secrets: [newSecret], ...about }
}

const quick = { schedule: ['1ms'], allowPrivateAddresses: true } as const satisfies Partial<WebhooksOptions>

async function effectsOf(app: Awaited<ReturnType<typeof program>>['app'], recipient: string) {
  return await app.store.listEffects({ recipient, limit: 100 })
}

test('a message is signed anew for each attempt, under one id and with the same bytes, and our own intake takes it', async (t) => {
  const { seen, url } = await customer(t, (number) => (number === 1 ? 500 : 204))
  const secrets = [newSecret, oldSecret, privateKey]
  const hooks = webhooks('customers', { ...quick, endpoints: [endpoint('ep_1', url, { secrets })] })
  const { app, happens, everythingWritten } = await program(t, hooks)
  await happens('acme')
  await until(async () => (await effectsOf(app, 'customers/ep_1'))[0]?.state === 'confirmed')
  const [first, second] = seen
  assert.equal(seen.length, 2)
  assert.deepEqual(JSON.parse(first!.body), {
    type: 'invoice.paid',
    timestamp: '2026-01-31T12:00:00Z',
    data: { tenant: 'acme', made: 1 },
  })
  assert.equal(first!.body, second!.body)
  const [effect] = await effectsOf(app, 'customers/ep_1')
  for (const { headers } of seen) assert.equal(headers['webhook-id'], effect?.idempotencyKey)
  assert.deepEqual(
    effect?.attempts.map(({ outcome }) => outcome),
    ['notActed', 'confirmed'],
  )
  for (const { headers, body } of seen) {
    for (const secret of [newSecret, oldSecret]) {
      new OfficialVerifier(secret).verify(body, headers)
      assert.throws(() => new OfficialVerifier(secret).verify(`${body} `, headers))
    }
    for (const secret of [newSecret, oldSecret, publicKey]) {
      const delivery = { header: (name: string) => headers[name] ?? null, body: Buffer.from(body) }
      const verdict = await standardWebhooks({ secrets: secret }).verify(delivery as never, Date.now())
      assert.deepEqual(verdict, { kind: 'verified' })
    }
  }
  await app.stop()
  const written = everythingWritten()
  for (const secret of secrets) assert.ok(!written.includes(secret.slice(6)), 'no secret is written')
  assert.ok(!written.includes('v1,'), 'and no signature')
})

test('an endpoint that does not answer holds up no other', async (t) => {
  const dead = await customer(t, () => null)
  const good = await customer(t, () => 200)
  const hooks = webhooks('customers', {
    ...quick,
    concurrency: 2,
    endpoints: [endpoint('dead', dead.url), endpoint('good', good.url)],
  })
  const { app, happens } = await program(t, hooks)
  for (let n = 0; n < 40; n++) await happens('acme')
  await until(() => good.seen.length === 40 && dead.most() === 2)
  assert.equal(dead.seen.length, 2)
  const waiting = await effectsOf(app, 'customers/dead')
  assert.equal(waiting.length, 40)
  assert.ok(waiting.every(({ state }) => state === 'planned' || state === 'attempting'))
})

test('one that is gone is switched off, its operator is told once, and its messages wait until it is resumed', async (t) => {
  let status = 410
  const { seen, url } = await customer(t, () => status)
  const saved: [string, EndpointHealth][] = []
  const hooks = webhooks('customers', {
    ...quick,
    concurrency: 1,
    endpoints: async () => [endpoint('ep_1', url), endpoint('other', url, { tenant: 'other' })],
    saveHealth: async (id, health) => void saved.push([id, health]),
  })
  const { app, alerts, happens } = await program(t, hooks)
  await happens('acme')
  await until(() => alerts.length > 0)
  assert.equal(alerts[0]?.reason, 'endpoint-switched-off')
  assert.equal(hooks.health().get('ep_1')?.off?.why, 'gone')
  await happens('acme')
  await until(async () => (await effectsOf(app, 'customers/ep_1')).length === 2)
  await wait(300)
  assert.equal(seen.length, 1, 'nothing more is sent')
  assert.deepEqual(await effectsOf(app, 'customers/other'), [])
  status = 200
  await hooks.resume('ep_1')
  await until(async () =>
    (await effectsOf(app, 'customers/ep_1')).every(({ state }) => state === 'confirmed'),
  )
  assert.equal(alerts.length, 1)
  assert.deepEqual(
    saved.map(([id, { off }]) => [id, off?.why]),
    [
      ['ep_1', 'gone'],
      ['ep_1', undefined],
    ],
  )
  assert.deepEqual(hooks.health().get('ep_1'), healthy)
})

test('an address that is not public is never connected to, and proves that nothing was sent', async (t) => {
  const { seen, url } = await customer(t, () => 200)
  const hooks = webhooks('customers', { endpoints: [endpoint('inside', url)] })
  const { app, happens } = await program(t, hooks)
  await happens('acme')
  await until(async () => (await effectsOf(app, 'customers/inside'))[0]?.attempts[0]?.outcome === 'notActed')
  const [effect] = await effectsOf(app, 'customers/inside')
  assert.match(effect!.attempts[0]!.why ?? '', /address_refused/)
  assert.equal(seen.length, 0)
})

describe('what is refused in a configuration', () => {
  const wrong: readonly [string, Partial<Endpoint>][] = [
    ['no secret', { secrets: [] }],
    ['a public key as a secret', { secrets: [publicKey] }],
    ['a secret that is too short', { secrets: ['whsec_AAAA'] }],
    ['a url with a password', { url: 'https://a:b@example.com' }],
    ['another protocol', { url: 'ftp://example.com' }],
    ['an id with a slash', { id: 'a/b' }],
  ]
  for (const [what, about] of wrong) {
    test(what, () => {
      const make = () =>
        webhooks('customers', { endpoints: [endpoint('ep_1', 'https://example.com', about)] })
      assert.throws(make, (error: Error) => {
        assert.equal((error as Error & { code: string }).code, 'config_invalid')
        for (const secret of about.secrets ?? []) assert.ok(!error.message.includes(secret))
        return true
      })
    })
  }
})
