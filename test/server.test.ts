import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { counterfoil, producer } from 'counterfoil'
import { github } from 'counterfoil/producers'
import { sqlite } from 'counterfoil/sqlite'
import { type Server, serve } from '../packages/counterfoil/src/server/index.ts'
import { github as signed } from './processes.ts'

const secret = 'a secret that must never be seen'

describe('the server', () => {
  const directory = mkdtempSync(join(tmpdir(), 'counterfoil-server-'))
  const lines: string[] = []
  const repository = producer('acme/github', github({ secrets: secret }), { maxBytes: 10_000 })
  const app = counterfoil({
    store: sqlite(join(directory, 'counterfoil.db')),
    producers: [repository],
    triggers: [],
    recipients: [],
    log: (...line) => void lines.push(JSON.stringify(line)),
  })
  let server: Server
  before(async () => {
    server = await serve(app, {
      port: 0,
      env: { COUNTERFOIL_OPERATOR_TOKEN: 'an operator token of some length' },
    })
  })
  after(async () => {
    await server.stop()
    rmSync(directory, { recursive: true })
  })
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${server.url}${path}`, { headers })

  test('says that it lives and that it is ready', async () => {
    assert.deepEqual([(await get('/healthz')).status, (await get('/readyz')).status], [200, 200])
  })

  test('receives at a producer whose name has a slash', async () => {
    const response = await fetch(
      `${server.url}/in/acme/github?from=hook`,
      signed('push', 'server-1', { a: 1 }, secret),
    )
    assert.equal(response.status, 202)
  })

  test('answers what it does not serve with a problem and never with 410', async () => {
    for (const path of ['/nothing', '/in/nobody']) {
      const response = await get(path)
      assert.equal(response.status, 404)
      assert.equal(response.headers.get('content-type'), 'application/problem+json')
    }
    const response = await get('/in/acme/github')
    assert.deepEqual([response.status, response.headers.get('allow')], [405, 'POST'])
  })

  test('refuses a large body without waiting for it, and goes on', async () => {
    const big = signed('push', 'server-2', { a: 'x'.repeat(200_000) }, secret)
    const response = await fetch(`${server.url}/in/acme/github`, big)
    assert.equal(response.status, 413)
    const small = await fetch(`${server.url}/in/acme/github`, signed('push', 'server-3', { b: 1 }, secret))
    assert.equal(small.status, 202)
  })

  test('refuses a body of unstated length once it passes the limit, while the sender still sends', async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const sending = request(`${server.url}/in/acme/github`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
      })
      const timer = setInterval(() => sending.write('x'.repeat(5_000)), 10)
      sending.on('response', (response) => {
        clearInterval(timer)
        response.resume()
        resolve(response.statusCode)
        sending.destroy()
      })
      sending.on('error', (error) => {
        clearInterval(timer)
        reject(error)
      })
    })
    assert.equal(status, 413)
  })

  test('shows figures to the operator only, and none of them holds a secret', async () => {
    assert.equal((await get('/metrics')).status, 401)
    const response = await get('/metrics', { authorization: 'Bearer an operator token of some length' })
    const text = await response.text()
    assert.match(text, /counterfoil_deliveries_total\{producer="acme\/github",outcome="quarantined"\} 2/)
    for (const seen of [text, lines.join('\n')])
      assert.doesNotMatch(seen, /a secret that must|an operator token/)
  })
})

test('a public bind without operator credentials is refused with what to do', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'counterfoil-server-'))
  const app = counterfoil({
    store: sqlite(join(directory, 'counterfoil.db')),
    triggers: [],
    recipients: [],
    log: () => {},
  })
  await assert.rejects(serve(app, { host: '0.0.0.0', port: 0 }), (error: { code: string; hint: string }) => {
    assert.equal(error.code, 'config_invalid')
    assert.match(error.hint, /COUNTERFOIL_OPERATOR_TOKEN/)
    return true
  })
  rmSync(directory, { recursive: true })
})

test('production without a vault key does not start, and makes no store', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'counterfoil-server-'))
  const app = counterfoil({
    store: sqlite(join(directory, 'counterfoil.db')),
    triggers: [],
    recipients: [],
    log: () => {},
  })
  process.env.COUNTERFOIL_ENV = 'production'
  try {
    await assert.rejects(serve(app, { port: 0 }), { code: 'key_ring_missing' })
    assert.deepEqual(readdirSync(directory), [])
  } finally {
    delete process.env.COUNTERFOIL_ENV
    rmSync(directory, { recursive: true })
  }
})
