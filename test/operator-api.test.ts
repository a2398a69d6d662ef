import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { counterfoil, producer } from 'counterfoil'
import { github } from 'counterfoil/producers'
import { sqlite } from 'counterfoil/sqlite'
import { newToken } from '../packages/counterfoil/src/operate/index.ts'
import { type Server, serve } from '../packages/counterfoil/src/server/index.ts'
import { github as signed } from './processes.ts'

const secret = 'a secret that must never be seen'

describe('the operator interface', () => {
  const directory = mkdtempSync(join(tmpdir(), 'counterfoil-api-'))
  const { token, kept } = newToken()
  const lines: string[] = []
  const app = counterfoil({
    store: sqlite(join(directory, 'counterfoil.db')),
    producers: [producer('github', github({ secrets: secret }))],
    operators: [{ name: 'abe', role: 'approver', token: kept }],
    triggers: [],
    recipients: [],
    log: (...line) => void lines.push(JSON.stringify(line)),
  })
  let server: Server
  let id = ''
  before(async () => {
    // A public bind: the configuration's credentials allow it.
    server = await serve(app, { host: '0.0.0.0', port: 0 })
    server = { ...server, url: server.url.replace('0.0.0.0', '127.0.0.1') }
    const response = await fetch(`${server.url}/in/github`, signed('push', 'api-1', { card: 4242 }, secret))
    id = ((await response.json()) as { quarantine: string }).quarantine
  })
  after(async () => {
    await server.stop()
    rmSync(directory, { recursive: true })
  })
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${server.url}/api/v1/${path}`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, ...init.headers },
    })
  const post = (path: string, body: string, type = 'application/json') =>
    ask(path, { method: 'POST', body, headers: { 'content-type': type } })
  const code = async (answer: Promise<Response>) => {
    const response = await answer
    assert.equal(response.headers.get('content-type'), 'application/problem+json')
    return [response.status, ((await response.json()) as { code: string }).code]
  }

  test('lists, filters and pages', async () => {
    const list = async (query: string) =>
      (await (await ask(`quarantine${query}`)).json()) as {
        quarantine: { id: string }[]
        next: string | null
      }
    assert.equal((await list('?producer=github&state=waiting&assignee=-&limit=1')).quarantine[0]?.id, id)
    assert.deepEqual(await list('?type=pull_request'), { quarantine: [], next: null })
    assert.deepEqual(await list(`?before=${id}`), { quarantine: [], next: null })
    assert.deepEqual(await code(ask('quarantine?colour=red')), [400, 'usage_invalid'])
    for (const query of ['limit=0', 'limit=501', 'limit=x', 'before=a&after=b'])
      assert.deepEqual(await code(ask(`quarantine?${query}`)), [400, 'request_invalid'])
  })

  test('nothing of a payload is in what a list or an entry shows, and no answer is cached', async () => {
    for (const path of ['quarantine', `quarantine/${id}`, 'audit']) {
      const response = await ask(path)
      assert.equal(response.headers.get('cache-control'), 'no-store')
      assert.doesNotMatch(await response.text(), /4242/)
    }
  })

  test('takes a JSON object of the right members and nothing else', async () => {
    const whole = { reason: 'r', decision: 'api-1', expectedVersion: 1 }
    const at = `quarantine/${id}/dismiss`
    for (const body of [
      '',
      '{',
      '[]',
      'null',
      '"text"',
      JSON.stringify({ ...whole, reason: 1 }),
      JSON.stringify({ ...whole, expectedVersion: '1' }),
      JSON.stringify({ reason: 'r', expectedVersion: 1 }),
    ])
      assert.deepEqual(await code(post(at, body)), [400, 'request_invalid'], body)
    assert.deepEqual(await code(post(at, JSON.stringify({ ...whole, reason: ' ' }))), [
      400,
      'decision_invalid',
    ])
    assert.deepEqual(await code(post(at, JSON.stringify(whole), 'text/plain')), [
      415,
      'content_type_unsupported',
    ])
    const big = JSON.stringify({ ...whole, reason: 'x'.repeat(70_000) })
    assert.deepEqual(await code(post(at, big)), [413, 'body_too_large'])
    assert.deepEqual(await code(post('quarantine/qua_none/dismiss', JSON.stringify(whole))), [
      404,
      'not_found',
    ])
    assert.deepEqual(await code(post('quarantine/run', JSON.stringify({ ...whole, act: 'delete' }))), [
      400,
      'request_invalid',
    ])
    assert.deepEqual(await code(ask('nothing')), [404, 'not_found'])
    assert.equal(((await (await ask('audit')).json()) as { audit: unknown[] }).audit.length, 0)
  })

  test('a run over many is answered in slices: 202 while there is more', async () => {
    const many = { act: 'dismiss', filter: { type: 'push' } }
    const dry = (await (await post('quarantine/dry-run', JSON.stringify(many))).json()) as { digest: string }
    const run = { ...many, digest: dry.digest, reason: 'test events', decision: 'api-run' }
    const response = await post('quarantine/run', JSON.stringify(run))
    assert.equal(response.status, 200)
    const done = (await response.json()) as { state: string; dismissed: number }
    assert.deepEqual([done.state, done.dismissed], ['done', 1])
    const verified = (await (await ask('audit/verify')).json()) as { rows: number; broken: null }
    assert.deepEqual([verified.rows, verified.broken], [2, null])
  })

  test('guessing is answered 401 with how to authenticate, then 429; no log line holds a token', async () => {
    const guess = () =>
      fetch(`${server.url}/api/v1/quarantine`, { headers: { authorization: 'Bearer guess' } })
    const first = await guess()
    assert.deepEqual([first.status, first.headers.get('www-authenticate')], [401, 'Bearer'])
    for (let guesses = 0; guesses < 9; guesses++) await guess()
    const locked = await guess()
    assert.equal(locked.status, 429)
    assert.ok(locked.headers.get('retry-after'))
    // Deliveries are not an operator's: they go on.
    const delivery = await fetch(`${server.url}/in/github`, signed('push', 'api-2', {}, secret))
    assert.equal(delivery.status, 202)
    assert.doesNotMatch(lines.join('\n'), new RegExp(`${token}|must never be seen`))
  })
})
