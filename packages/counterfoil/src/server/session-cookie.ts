import type { Context } from 'hono'
import { deleteCookie, setCookie } from 'hono/cookie'
import { parse } from 'hono/utils/cookie'
import { absoluteMs } from './sessions.ts'

/**
 * The cookie that holds a session's secret: for this host alone, out of reach of scripts, and never sent with a
 * request that another site began.
 */
const options = { path: '/', httpOnly: true, sameSite: 'Strict' } as const
const name = 'counterfoil-session'

export function sessionOf(context: Pick<Context, 'req'>): string | undefined {
  const cookies = parse(context.req.header('cookie') ?? '')
  return cookies[`__Host-${name}`] ?? cookies[name]
}

/** @param secure whether the browser reached us by TLS, here or at a proxy */
export function keepSession(context: Context, secret: string, secure: boolean): void {
  setCookie(context, secure ? `__Host-${name}` : name, secret, {
    ...options,
    secure,
    maxAge: absoluteMs / 1_000,
  })
}

export function dropSession(context: Context, secure: boolean): void {
  deleteCookie(context, name, options)
  if (secure) deleteCookie(context, `__Host-${name}`, { ...options, secure })
}
