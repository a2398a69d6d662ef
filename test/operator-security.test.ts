import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { counterfoil, producer, recipient, trigger } from 'counterfoil'
import { github } from 'counterfoil/producers'
import { sqlite } from 'counterfoil/sqlite'
import { z } from 'zod'
import { Credentials, newToken } from '../packages/counterfoil/src/operate/index.ts'
import { Authentication } from '../packages/counterfoil/src/server/authentication.ts'
import { type Server, serve } from '../packages/counterfoil/src/server/index.ts'
import { operatorApi } from '../packages/counterfoil/src/server/operator-api.ts'
import { Sessions } from '../packages/counterfoil/src/server/sessions.ts'
import { github as signed } from './processes.ts'

/** Nothing that the server says or keeps in the open may hold one of these. */
const secrets = {
  producer: 'planted-signing-secret-1',
  recipient: 'planted-recipient-token-2',
  payload: 'planted-card-4242424242424242',
  answer: 'planted-answer-of-the-recipient-4',
}
const roles = ['viewer', 'operator', 'approver'] as const
type Role = (typeof roles)[number]

/** The least role for each route. */
const routes: readonly (readonly [method: 'GET' | 'POST', path: string, least: Role])[] = [
  ['GET', '/me', 'viewer'],
  ['GET', '/search', 'viewer'],
  ['GET', '/overview', 'viewer'],
  ['GET', '/recipients', 'viewer'],
  ['GET', '/receipts', 'viewer'],
  ['GET', '/receipts/:id', 'viewer'],
  ['POST', '/receipts/:id/payload', 'operator'],
  ['GET', '/effects', 'viewer'],
  ['GET', '/unknown', 'viewer'],
  ['GET', '/effects/:id', 'viewer'],
  ['POST', '/effects/:id/request', 'operator'],
  ['POST', '/effects/:id/ask', 'operator'],
  ['POST', '/effects/:id/repeat', 'operator'],
  ['POST', '/effects/:id/place-tombstone', 'operator'],
  ['POST', '/effects/:id/confirm', 'operator'],
  ['POST', '/effects/:id/refuse', 'operator'],
  ['POST', '/effects/:id/withdraw', 'operator'],
  ['POST', '/effects/:id/approve', 'approver'],
  ['POST', '/effects/:id/reject', 'approver'],
  ['GET', '/quarantine', 'viewer'],
  ['GET', '/quarantine/:id', 'viewer'],
  ['POST', '/quarantine/dry-run', 'operator'],
  ['POST', '/quarantine/run', 'approver'],
  ['POST', '/quarantine/:id/payload', 'operator'],
  ['POST', '/quarantine/:id/assign', 'operator'],
  ['POST', '/quarantine/:id/reprocess', 'operator'],
  ['POST', '/quarantine/:id/dismiss', 'operator'],
  ['GET', '/backfills', 'viewer'],
  ['GET', '/backfills/:id', 'viewer'],
  ['POST', '/backfills/:id/plan', 'operator'],
  ['POST', '/backfills/:id/approve', 'approver'],
  ['POST', '/backfills/:id/run', 'operator'],
  ['POST', '/backfills/:id/pause', 'operator'],
  ['POST', '/backfills/:id/resume', 'operator'],
  ['GET', '/retention', 'viewer'],
  ['POST', '/retention/apply', 'approver'],
  ['POST', '/retention/erase', 'approver'],
  ['POST', '/retention/erase/plan', 'operator'],
  ['POST', '/retention/erase/run', 'approver'],
  ['GET', '/audit', 'viewer'],
  ['GET', '/audit/verify', 'viewer'],
]

describe('what operators may do, and what nobody sees', () => {
  const directory = mkdtempSync(join(tmpdir(), 'counterfoil-security-'))
  const tokens = Object.fromEntries(roles.map((role) => [role, newToken()]))
  const logged: string[] = []
  const desk = recipient('desk', {
    url: 'https://desk.test',
    headers: () => ({ authorization: `Bearer ${secrets.recipient}` }),
    contract: {
      idempotency: { header: 'Key', remembersFor: '24h', otherPayload: 'refused', replays: 'nothing' },
      lookup: { by: 'key', path: '/{key}', after: '12h', absence: { final: false } },
    },
  })
  const open = desk.effect('ticket.open', {
    payload: z.object({ card: z.string() }),
    request: (body) => ({ method: 'POST', path: '/tickets', body }),
  })
  const github1 = producer('github', github({ secrets: secrets.producer }))
  const app = counterfoil({
    store: sqlite(join(directory, 'counterfoil.db')),
    operators: roles.map((role) => ({ name: role, role, token: tokens[role]!.kept })),
    triggers: [
      trigger('open a ticket', {
        on: github1.event('issues', { schema: z.object({ card: z.string() }) }),
        plan: ({ data, id }, { effect }) => {
          effect(open, { key: `issue/${id}`, payload: { card: data.card } })
        },
      }),
    ],
    recipients: [desk],
    network: {
      // It got the request, and answers with what must not be kept.
      async send() {
        return {
          kind: 'answered',
          status: 500,
          headers: { 'x-debug': secrets.answer },
          body: Buffer.from(JSON.stringify({ error: secrets.answer })),
        }
      },
      async close() {},
    },
    log: (...line) => void logged.push(JSON.stringify(line)),
  })
  let server: Server
  let ids: Record<'receipts' | 'effects' | 'quarantine', string>
  before(async () => {
    server = await serve(app, { port: 0 })
    await send('issues', 'one', { card: secrets.payload })
    await send('push', 'two', { card: secrets.payload })
    for (let looks = 0; ; looks++) {
      const [effect] = await app.store.listEffects({ limit: 1 })
      if (effect !== undefined && effect.state === 'unknown') break
      assert.ok(looks < 2_400, 'in a minute no effect became unknown')
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
    const [effect] = await app.store.listEffects({ limit: 1 })
    const [receipt] = await app.store.listReceipts({ limit: 1, state: 'planned' })
    const { entries } = await app.store.listQuarantine({ limit: 1 })
    ids = { receipts: receipt!.id, effects: effect!.id, quarantine: entries[0]!.id }
  })
  after(async () => {
    await server.stop()
    rmSync(directory, { recursive: true })
  })

  const send = async (type: string, id: string, payload: object, secret = secrets.producer) =>
    await fetch(`${server.url}/in/github`, signed(type, id, payload, secret))

  const pathOf = (path: string) => path.replace(':id', ids[path.split('/')[1] as keyof typeof ids] ?? 'none')
  const ask = async (method: string, path: string, token: string, body: object = {}) => {
    const response = await fetch(`${server.url}/api/v1${pathOf(path)}`, {
      method,
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${token}`,
      },
      ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, text: await response.text() }
  }
  /** Whole, so that nothing but the role can refuse it; of a version that no record has, so that it changes nothing. */
  const wholeBody = (path: string, role: string) => ({
    reason: 'a test',
    decision: `${role}${path.replaceAll(/[/:]/g, '.')}`,
    expectedVersion: 999,
    evidence: { says: 'nothing' },
    assignee: null,
    act: 'dismiss',
    filter: {},
    digest: `none~${'0'.repeat(64)}`,
    proposal: 'none',
  })

  const apiFor = (credentials: Credentials) =>
    operatorApi(app, {
      authentication: new Authentication(credentials, app.clock),
      sessions: new Sessions(app.clock),
      publicUrl: undefined,
    })

  test('every route of the interface has its place in the table', () => {
    const api = apiFor(new Credentials([], {}))
    const served = api.routes
      .filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method} ${path}`)
    assert.deepEqual([...new Set(served)].sort(), routes.map(([method, path]) => `${method} ${path}`).sort())
  })

  test('without credentials, or with false ones, every route answers 401 and nothing else', async () => {
    const api = apiFor(new Credentials(app.operators, {}))
    let address = 0
    for (const [method, path] of routes) {
      for (const headers of [{}, { authorization: 'Bearer false' }, { authorization: 'Basic dmVyYTp4' }]) {
        // Each from elsewhere: guesses of one address are soon answered 429.
        const incoming = { socket: { remoteAddress: `10.0.0.${address++}` } }
        const response = await api.request(pathOf(path), { method, headers }, { incoming } as never)
        assert.equal(response.status, 401, path)
        assert.equal(((await response.json()) as { code: string }).code, 'not_authenticated')
      }
    }
  })

  for (const [method, path, least] of routes) {
    test(`${method} ${path} is for the role ${least} and above`, async () => {
      for (const role of roles) {
        const { status, text } = await ask(method, path, tokens[role]!.token, wholeBody(path, role))
        const allowed = roles.indexOf(role) >= roles.indexOf(least)
        assert.equal(status !== 403, allowed, `${role}: ${status} ${text}`)
        assert.ok(status < 500, `${role}: ${status} ${text}`)
        if (!allowed) assert.equal(JSON.parse(text).code, 'not_authorised')
      }
    })
  }

  test('what a role may do by its own account is what the table lets it', async () => {
    for (const role of roles) {
      const { acts } = JSON.parse((await ask('GET', '/me', tokens[role]!.token)).text) as { acts: string[] }
      for (const [method, path, least] of routes) {
        const act = path.slice(1).replace('/:id/', '.')
        if (method === 'POST' && act.startsWith('effects.'))
          assert.equal(acts.includes(act), roles.indexOf(role) >= roles.indexOf(least), `${role} ${act}`)
      }
    }
  })

  test('a refused act leaves nothing in the audit log, and its trying does not either', async () => {
    const before = (await app.store.listAudit({ limit: 1 }))[0]?.number ?? 0
    for (const [method, path, least] of routes) {
      if (least !== 'viewer') await ask(method, path, tokens.viewer!.token, wholeBody(path, 'again'))
    }
    assert.equal((await app.store.listAudit({ limit: 1 }))[0]?.number ?? 0, before)
  })

  test('no secret is in an answer, a log line, a metric or the audit log', async () => {
    const said: string[] = []
    const { token } = tokens.approver!
    for (const [method, path] of routes) {
      if (method === 'GET') said.push((await ask(method, path, token)).text)
    }
    for (const q of [ids.effects, ids.receipts, ids.quarantine, secrets.payload, 'issue/']) {
      said.push((await ask('GET', `/search?q=${encodeURIComponent(q)}`, token)).text.replaceAll(q, ''))
    }
    for (const body of [{ evidence: { says: 1 } }, { reason: secrets.payload.length }, { digest: 'x' }]) {
      for (const [method, path] of routes) {
        if (method === 'POST' && !/payload|request/.test(path))
          said.push((await ask(method, path, token, body)).text)
      }
    }
    said.push(await (await send('issues', 'three', { card: secrets.payload }, 'another secret')).text())
    for (const path of ['metrics', 'healthz', 'readyz', 'nothing']) {
      const headers = { authorization: `Bearer ${token}` }
      said.push(await (await fetch(`${server.url}/${path}`, { headers })).text())
    }
    said.push(JSON.stringify(await app.store.listAudit({ limit: 500 })))
    const all = [...said, ...logged].join('\n')
    for (const [name, secret] of [
      ...Object.entries(secrets),
      ...roles.map((r) => [r, tokens[r]!.token] as const),
    ])
      assert.ok(!all.includes(secret), `the secret '${name}' was emitted`)
    assert.match(all, /counterfoil_effects/)
  })

  test('no secret lies in the open in the files of the store', async () => {
    // The key ring of development lies beside the file and is meant to.
    const files = readdirSync(directory).filter((name) => !name.endsWith('.vault-key'))
    const bytes = Buffer.concat(files.map((name) => readFileSync(join(directory, name))))
    assert.ok(bytes.includes('issue/one'))
    for (const [name, secret] of [
      ...Object.entries(secrets),
      ...roles.map((r) => [r, tokens[r]!.token] as const),
    ])
      assert.ok(!bytes.includes(secret), `the secret '${name}' lies in the open`)
  })
})
