import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import { CounterfoilError } from '../domain/index.ts'
import type { Operator } from '../operate/index.ts'
import type { Authentication } from './authentication.ts'
import { checkOrigin } from './same-origin.ts'
import { sessionOf } from './session-cookie.ts'
import type { Sessions } from './sessions.ts'

/** Who may be asking, and how that is found. */
export interface Doors {
  readonly authentication: Authentication
  readonly sessions: Sessions
  /** Where browsers reach the console, if it was said. */
  readonly publicUrl: string | undefined
}

type Asked = Pick<Context, 'req'> & { readonly env: HttpBindings }

/**
 * The operator of a request: of its bearer token, else of the console's session. A session's request that changes
 * something has to come from the console's own page; a bearer token is sent by no browser on its own.
 *
 * @throws CounterfoilError `not_authenticated`, `credentials_locked`, `request_foreign`
 */
export function operatorOfRequest(context: Asked, { authentication, sessions, publicUrl }: Doors): Operator {
  const authorization = context.req.header('authorization')
  const secret = sessionOf(context)
  if (authorization !== undefined || secret === undefined) {
    return authentication.operatorOf(authorization, addressOf(context))
  }
  const reads = context.req.method === 'GET' || context.req.method === 'HEAD'
  if (!reads) checkOrigin(context.req.raw, publicUrl)
  const active = context.req.header(consoleHeader) !== 'poll'
  const operator = sessions.operatorOf(secret, { active })
  if (operator !== null) return operator
  throw new CounterfoilError('not_authenticated', 'The session has ended.', { hint: 'Sign in again.' })
}

/** Set by the console's page on each of its requests; `poll` on those that it makes by itself. */
export const consoleHeader = 'x-counterfoil-console'

export function addressOf(context: Asked): string {
  return context.env.incoming.socket.remoteAddress ?? ''
}
