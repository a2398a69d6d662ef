import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { counterfoil } from 'counterfoil'
import { sqlite } from 'counterfoil/sqlite'
import { type ServeOptions, type Server, serve } from '../packages/counterfoil/src/server/index.ts'
import { VirtualClock } from '../packages/counterfoil/src/testing/index.ts'

const token = 'the token of olga the operator'

/** Sign-in and sessions by HTTP, as a browser or somebody with worse in mind would ask. */
describe('sessions of the console', () => {
  const directory = mkdtempSync(join(tmpdir(), 'counterfoil-session-'))
  const clock = new VirtualClock()
  const lines: string[] = []
  const app = counterfoil({
    store: sqlite(join(directory, 'counterfoil.db')),
    triggers: [],
    recipients: [],
    clock,
    log: (...line) => void lines.push(JSON.stringify(line)),
  })
  let server: Server
  const serving = async (options: ServeOptions = {}) => {
    server = await serve(app, {
      port: 0,
      env: { COUNTERFOIL_OPERATORS: `olga:operator:${token}` },
      ...options,
    })
  }
  before(() => serving())
  after(async () => {
    await server.stop()
    rmSync(directory, { recursive: true })
  })

  const own = () => ({
    origin: server.url,
    'x-counterfoil-console': 'act',
    'content-type': 'application/json',
  })
  const ask = (path: string, method: string, headers: Record<string, string>, body?: object) =>
    fetch(`${server.url}${path}`, {
      method,
      headers,
      redirect: 'manual',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const enter = (headers = own(), secret = token) =>
    ask('/console/session', 'POST', headers, { token: secret })
  const cookieOf = (response: Response) => response.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  const whoAmI = async (cookie: string) => (await ask('/api/v1/audit', 'GET', { cookie })).status

  test('the cookie is for this host alone and out of reach of scripts; answers are not kept', async () => {
    const response = await enter()
    assert.deepEqual(await response.json(), { operator: { name: 'olga', role: 'operator' } })
    const [cookie = ''] = response.headers.getSetCookie()
    for (const attribute of [/; HttpOnly/, /; SameSite=Strict/, /; Path=\//, /; Max-Age=43200/])
      assert.match(cookie, attribute)
    assert.doesNotMatch(cookie, /Domain=/)
    assert.equal(response.headers.get('cache-control'), 'no-store')
    assert.equal(await whoAmI(cookieOf(response)), 200)
  })

  test('behind TLS the cookie is secure and bound to the host by its name', async () => {
    const response = await enter({ ...own(), 'x-forwarded-proto': 'https' } as ReturnType<typeof own>)
    const [cookie = ''] = response.headers.getSetCookie()
    assert.match(cookie, /^__Host-counterfoil-session=.*; Secure/)
    assert.equal(await whoAmI(cookieOf(response)), 200)
  })

  test('fixation: a secret that somebody planted is none, and each sign-in makes a new one and ends the one before', async () => {
    const planted = 'counterfoil-session=planted-by-somebody-else'
    const first = cookieOf(await enter({ ...own(), cookie: planted } as ReturnType<typeof own>))
    assert.notEqual(first, planted)
    assert.equal(await whoAmI(planted), 401)
    const second = cookieOf(await enter({ ...own(), cookie: first } as ReturnType<typeof own>))
    assert.notEqual(second, first)
    assert.deepEqual([await whoAmI(first), await whoAmI(second)], [401, 200])
  })

  test('no request that another site could make a browser send changes anything', async () => {
    const cookie = cookieOf(await enter())
    const foreign: Record<string, string>[] = [
      { 'x-counterfoil-console': 'act', origin: 'https://evil.example' },
      { 'x-counterfoil-console': 'act', origin: 'null' },
      { 'x-counterfoil-console': 'act' },
      { origin: server.url },
      { origin: `${server.url}.evil.example`, 'x-counterfoil-console': 'act' },
    ]
    for (const headers of foreign) {
      const sent = { ...headers, cookie, 'content-type': 'application/json' }
      for (const [path, method] of [
        ['/api/v1/quarantine/qua_1/dismiss', 'POST'],
        ['/api/v1/quarantine/run', 'POST'],
        ['/console/session', 'POST'],
        ['/console/session', 'DELETE'],
      ] as const) {
        const response = await ask(path, method, sent, {})
        assert.deepEqual(
          [response.status, ((await response.json()) as { code: string }).code],
          [403, 'request_foreign'],
          `${method} ${path} with ${JSON.stringify(headers)}`,
        )
      }
    }
    assert.equal(await whoAmI(cookie), 200)
    // From its own page the same request gets as far as what it asks.
    const response = await ask('/api/v1/quarantine/qua_1/dismiss', 'POST', { ...own(), cookie }, {})
    assert.equal(response.status, 400)
  })

  test('a session ends by itself, and when its operator signs out', async () => {
    const cookie = cookieOf(await enter())
    clock.jump(31 * 60_000)
    assert.equal(await whoAmI(cookie), 401)
    const other = cookieOf(await enter())
    const out = await ask('/console/session', 'DELETE', { ...own(), cookie: other })
    assert.equal(out.status, 204)
    assert.match(out.headers.getSetCookie()[0] ?? '', /Max-Age=0/)
    assert.equal(await whoAmI(other), 401)
  })

  test('guessing tokens at the sign-in is locked as guessing at the interface is, and none is logged', async () => {
    const guesses = await Promise.all(Array.from({ length: 10 }, () => enter(own(), 'a guess of a token')))
    assert.deepEqual([...new Set(guesses.map(({ status }) => status))], [401])
    assert.equal((await enter()).status, 429)
    clock.jump(60_000)
    assert.equal((await enter()).status, 200)
    assert.doesNotMatch(lines.join('\n'), /the token of|a guess of/)
  })

  test('the address that browsers use is the only origin when it is said', async () => {
    await server.stop()
    await serving({ publicUrl: 'https://ops.example.com' })
    assert.equal((await enter()).status, 403)
    const response = await enter({ ...own(), origin: 'https://ops.example.com' })
    assert.equal(response.status, 200)
    assert.match(response.headers.getSetCookie()[0] ?? '', /^__Host-.*; Secure/)
  })

  test('a public address that is none is refused at the start', async () => {
    for (const publicUrl of ['ops.example.com', 'https://ops.example.com/console', 'ftp://ops.example.com'])
      await assert.rejects(serve(app, { publicUrl }), { code: 'config_invalid' })
  })
})
