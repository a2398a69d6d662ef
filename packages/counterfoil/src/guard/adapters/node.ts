import type { ServerResponse } from 'node:http'
import { type Arrival, fromNode, type NodeRequest as PlainRequest, withBody } from '../../intake/index.ts'
import type { StoredAnswer } from '../answer.ts'
import type { Guard, Handler } from '../guard.ts'
import type { Mode } from '../store.ts'

/** A request of Node's HTTP server, or of a framework on it that may have parsed the body already. */
export type NodeRequest = PlainRequest & { readonly body?: unknown }

/**
 * For Express, for Nest on Express, and for Node's own server: guards one route.
 *
 * Place it before any body parser, so that the fingerprint is made of the bytes as they came. Behind `express.json()`
 * it takes the parsed value, and behind `express.raw()` or `express.text()` what those kept.
 *
 * @example
 * app.post('/seats', guardedRoute(seats, ({ tx, json }) => ({ status: 201, json: open(tx, json()) })))
 */
export function guardedRoute<Tx, M extends Mode, Request extends NodeRequest>(
  guard: Guard<Tx, M>,
  handler: (guarded: Parameters<Handler<Tx, M>>[0], request: Request) => ReturnType<Handler<Tx, M>>,
) {
  return async (
    request: Request,
    response: ServerResponse,
    next: (error?: unknown) => void,
  ): Promise<void> => {
    try {
      respond(response, await guard.handleArrival(arrivalOf(request), (guarded) => handler(guarded, request)))
    } catch (error) {
      next(error)
    }
  }
}

/** Serves a guard's contract, lookups and tombstones: `app.use(guardPaths(seats))`. Other paths go on to `next`. */
export function guardPaths(guard: Guard<any, any>) {
  return async (
    request: NodeRequest,
    response: ServerResponse,
    next: (error?: unknown) => void,
  ): Promise<void> => {
    try {
      const answer = await guard.serveArrival(arrivalOf(request))
      if (answer === null) next()
      else respond(response, answer)
    } catch (error) {
      next(error)
    }
  }
}

export function respond(response: ServerResponse, { status, headers, body }: StoredAnswer): void {
  response.statusCode = status
  for (const [name, value] of headers) response.setHeader(name, value)
  response.setHeader('content-length', body.byteLength)
  response.end(response.req.method === 'HEAD' ? undefined : body)
}

/** The body from the socket, or from whoever has read it before. */
export function arrivalOf(request: NodeRequest): Arrival {
  const arrival = fromNode(request)
  return request.readableDidRead ? withParsedBody(arrival, request.body) : arrival
}

/** A body that a parser has read; what it made of JSON has the same canonical form. */
export function withParsedBody(arrival: Arrival, parsed: unknown): Arrival {
  return withBody(arrival, bytesOf(parsed))
}

function bytesOf(parsed: unknown): Uint8Array {
  if (parsed === undefined) return new Uint8Array(0)
  if (parsed instanceof Uint8Array) return parsed
  return Buffer.from(typeof parsed === 'string' ? parsed : JSON.stringify(parsed))
}
