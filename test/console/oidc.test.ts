import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { Provider } from 'oidc-provider'
import { closeBrowser, pageFor } from './browser.ts'
import { ConsoleWorld } from './world.ts'

const emails: Readonly<Record<string, string>> = { olga: 'olga@example.com', eve: 'eve@elsewhere.example' }

/** A real provider of our own. What it lets somebody in by is its development page: any name. */
async function provider(redirectUri: () => string): Promise<{ issuer: string; server: Server }> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { privateKey } = generateKeyPairSync('ed25519')
  const { privateKey: rsa } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const keys = [rsa, privateKey].map((key) => ({ ...key.export({ format: 'jwk' }), use: 'sig' }))
  let handler: ReturnType<Provider['callback']> | undefined
  server.on('request', (request, response) => {
    // The address of the console is known once it listens.
    handler ??= new Provider(issuer, {
      clients: [
        { client_id: 'counterfoil', client_secret: 'a secret of the client', redirect_uris: [redirectUri()] },
      ],
      jwks: { keys: keys as never },
      cookies: { keys: ['a key of the test'] },
      claims: { email: ['email', 'email_verified'], profile: ['name'] },
      conformIdTokenClaims: false,
      findAccount: (_, id) => ({
        accountId: id,
        claims: () => ({ sub: id, email: emails[id] ?? '', email_verified: true, name: id }),
      }),
      features: { devInteractions: { enabled: true } },
    }).callback()
    handler(request, response)
  })
  return { issuer, server }
}

describe('signing in at an OpenID Connect provider', () => {
  let world: ConsoleWorld
  let server: Server
  before(async () => {
    const started = await provider(() => `${world.url}/console/session/oidc/return`)
    server = started.server
    world = new ConsoleWorld({
      configure: {
        signIn: {
          issuer: started.issuer,
          clientId: 'counterfoil',
          clientSecret: 'a secret of the client',
          operator: ({ email }) =>
            typeof email === 'string' && email.endsWith('@example.com')
              ? { name: email, role: 'operator' }
              : null,
        },
      },
    })
    await world.start()
  })
  after(async () => {
    await closeBrowser()
    await world.dispose()
    server.closeAllConnections()
    server.close()
  })

  for (const [name, outcome] of [
    ['olga', 'is let in by the name that the configuration gives'],
    ['eve', 'who is no operator here is told so'],
  ] as const) {
    test(`${name} ${outcome}`, async (t) => {
      const page = await pageFor(t)
      if (page === undefined) return
      await page.goto(`${world.url}/console/`)
      await page.getByRole('link', { name: 'Sign in with your organisation' }).click()
      await page.locator('input[name=login]').fill(name)
      await page.locator('input[name=password]').fill('any')
      await page.locator('button[type=submit]').click()
      await page.getByRole('button', { name: 'Continue' }).click()
      if (name === 'eve') {
        await page.getByRole('alert').getByText('You signed in, but are no operator here.').waitFor()
        return
      }
      await page.getByText('olga@example.com operator').waitFor()
      const [session] = (await page.context().cookies()).filter(
        (cookie) => cookie.name === 'counterfoil-session',
      )
      assert.equal(session?.sameSite, 'Strict')
    })
  }

  test('a return that was not begun in this browser, or is used twice, lets nobody in', async () => {
    const begun = await fetch(`${world.url}/console/session/oidc`, { redirect: 'manual' })
    assert.match(begun.headers.get('location') ?? '', /code_challenge=.*state=.*nonce=|code_challenge/)
    const ticket = begun.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state')
    const back = async (query: string, cookie: string) => {
      const response = await fetch(`${world.url}/console/session/oidc/return?${query}`, {
        redirect: 'manual',
        headers: { cookie },
      })
      const sessions = response.headers.getSetCookie().filter((set) => set.startsWith('counterfoil-session'))
      return [response.headers.get('location'), sessions]
    }
    const refused = ['/console/?refused=not_authenticated', []]
    assert.deepEqual(await back(`code=stolen&state=${state}`, ''), refused)
    assert.deepEqual(await back('code=stolen&state=another', ticket), refused)
    assert.deepEqual(await back(`code=stolen&state=${state}`, ticket), refused)
  })
})
