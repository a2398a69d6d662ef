import type { HttpBindings } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { CounterfoilError, codeOf } from '../domain/index.ts'
import type { Operator } from '../operate/index.ts'
import type { OidcSignIn } from './oidc.ts'
import { refusalOf } from './refusal.ts'
import { readBody, text } from './request-body.ts'
import { addressOf, consoleHeader, type Doors } from './request-operator.ts'
import { checkOrigin } from './same-origin.ts'
import { dropSession, keepSession, sessionOf } from './session-cookie.ts'

type Asked = Context<{ Bindings: HttpBindings }>

const ticketCookie = 'counterfoil-sign-in'

/** `/console/session`: who is signed in, signing in by an operator's token or at a provider, and signing out. */
export function signIn(doors: Doors, oidc: OidcSignIn | null): Hono<{ Bindings: HttpBindings }> {
  const { authentication, sessions, publicUrl } = doors
  const routes = new Hono<{ Bindings: HttpBindings }>()
  routes.use(bodyLimit({ maxSize: 4_096, onError: () => refusalOf(tooLarge) }))

  const enter = (context: Asked, operator: Operator) => {
    // Whatever secret the browser came with is no use any more: nobody can have planted the one that it gets.
    sessions.end(sessionOf(context))
    keepSession(context, sessions.begin(operator), isSecure(context, publicUrl))
  }
  routes.get('/', (context) => {
    const active = context.req.header(consoleHeader) !== 'poll'
    return context.json({
      operator: sessions.operatorOf(sessionOf(context), { active }),
      oidc: oidc !== null,
    })
  })
  routes.post('/', async (context) => {
    checkOrigin(context.req.raw, publicUrl)
    const token = text(await readBody(context.req.raw), 'token')
    const operator = authentication.operatorOf(`Bearer ${token}`, addressOf(context))
    enter(context, operator)
    return context.json({ operator })
  })
  routes.delete('/', (context) => {
    checkOrigin(context.req.raw, publicUrl)
    sessions.end(sessionOf(context))
    dropSession(context, isSecure(context, publicUrl))
    return context.body(null, 204)
  })
  if (oidc !== null) {
    // Lax, unlike the session's: the browser comes back from another site, and brings it.
    const ticket = { path: '/console/session', httpOnly: true, sameSite: 'Lax' } as const
    routes.get('/oidc', async (context) => {
      const { url, ticket: secret } = await oidc.begin()
      const secure = isSecure(context, publicUrl)
      setCookie(context, ticketCookie, secret, { ...ticket, secure, maxAge: 600 })
      return context.redirect(url)
    })
    routes.get('/oidc/return', async (context) => {
      const held = getCookie(context, ticketCookie)
      deleteCookie(context, ticketCookie, ticket)
      try {
        enter(context, await oidc.finish(new URL(context.req.url).search, held))
        return context.redirect('/console/')
      } catch (error) {
        return context.redirect(`/console/?refused=${codeOf(error) ?? 'internal'}`)
      }
    })
  }
  routes.onError(refusalOf)
  return routes
}

const tooLarge = new CounterfoilError('body_too_large', 'A sign-in is smaller than that.')

/** A proxy that claims TLS falsely only keeps the cookie from the one who claims it. */
function isSecure(context: Asked, publicUrl: string | undefined): boolean {
  return publicUrl?.startsWith('https:') ?? context.req.header('x-forwarded-proto') === 'https'
}
