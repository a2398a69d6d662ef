import type { IncomingMessage } from 'node:http'
import { type Arrival, fromIncoming } from '../../intake/index.ts'
import type { StoredAnswer } from '../answer.ts'
import type { Guard, Handler } from '../guard.ts'
import type { Mode } from '../store.ts'
import { withParsedBody } from './node.ts'

/** What the guard uses of a request of Fastify. */
export interface FastifyRequestLike {
  readonly raw: IncomingMessage
  /** As the client sent it, before any rewriting. */
  readonly originalUrl: string
  readonly body?: unknown
}

/** What the guard uses of a reply of Fastify. */
export interface FastifyReplyLike {
  status(code: number): unknown
  header(name: string, value: string): unknown
  send(payload?: unknown): unknown
}

/**
 * For Fastify: guards one route. The body comes from Fastify's parsers; add one that keeps a Buffer
 * (`parseAs: 'buffer'`) where a type is not JSON.
 *
 * @example
 * app.post('/seats', fastifyRoute(seats, ({ tx, json }) => ({ status: 201, json: open(tx, json()) })))
 */
export function fastifyRoute<Tx, M extends Mode, Request extends FastifyRequestLike>(
  guard: Guard<Tx, M>,
  handler: (guarded: Parameters<Handler<Tx, M>>[0], request: Request) => ReturnType<Handler<Tx, M>>,
) {
  return async (request: Request, reply: FastifyReplyLike): Promise<unknown> =>
    respond(reply, await guard.handleArrival(arrivalOf(request), (guarded) => handler(guarded, request)))
}

/**
 * Serves a guard's contract, lookups and tombstones: `app.addHook('onRequest', fastifyPaths(seats))`. Other paths go
 * on to their routes.
 */
export function fastifyPaths(guard: Guard<any, any>) {
  return async (request: FastifyRequestLike, reply: FastifyReplyLike): Promise<unknown> => {
    const answer = await guard.serveArrival(arrivalOf(request))
    return answer === null ? undefined : respond(reply, answer)
  }
}

export function arrivalOf({ raw, originalUrl, body }: FastifyRequestLike): Arrival {
  return withParsedBody({ ...fromIncoming(raw), url: originalUrl }, body)
}

function respond(reply: FastifyReplyLike, { status, headers, body }: StoredAnswer): unknown {
  reply.status(status)
  for (const [name, value] of headers) reply.header(name, value)
  return reply.send(body.byteLength === 0 ? undefined : Buffer.from(body))
}
