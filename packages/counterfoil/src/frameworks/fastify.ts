/** Deliveries in an application of Fastify. */

import { arrivalOf, type FrameworkRequest, type Receives } from './node.ts'

export type { FrameworkRequest, Receives } from './node.ts'

/** What the receiver uses of an instance of Fastify. */
export interface FastifyLike {
  removeAllContentTypeParsers(): unknown
  addContentTypeParser(
    contentType: string,
    options: object,
    parser: (request: never, payload: unknown, done: (error: null) => void) => void,
  ): unknown
  all(
    path: string,
    handler: (request: { readonly raw: FrameworkRequest }, reply: ReplyLike) => unknown,
  ): unknown
}

/** What the receiver uses of a reply of Fastify. */
export interface ReplyLike {
  send(payload: unknown): unknown
}

/**
 * A plugin that answers deliveries at `/in/{producer}`. Fastify keeps parsers apart by plugin: inside of this one no
 * parser reads a body, and outside of it all is as it was.
 *
 * @example
 * await server.register(receiver(app))
 */
export function receiver(app: Receives): (fastify: FastifyLike) => Promise<void> {
  return async (fastify) => {
    fastify.removeAllContentTypeParsers()
    fastify.addContentTypeParser('*', {}, (_request, _payload, done) => done(null))
    fastify.all('/in/*', async ({ raw }, reply) => reply.send(await app.receiveArrival(arrivalOf(raw))))
  }
}
