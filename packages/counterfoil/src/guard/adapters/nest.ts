import type { ServerResponse } from 'node:http'
import type { Guard, Handler } from '../guard.ts'
import type { Mode } from '../store.ts'
import { type FastifyReplyLike, type FastifyRequestLike, fastifyRoute } from './fastify.ts'
import { guardedRoute, type NodeRequest } from './node.ts'

/**
 * For a controller of Nest, on Express or Fastify: answers the request of `@Req()` through `@Res()`. What the handler
 * throws goes on to Nest's exception filters, after all was undone.
 *
 * Create the application with `bodyParser: false`, or the fingerprint is made of what Nest's parser kept.
 *
 * @example
 * \@Post('seats')
 * async open(\@Req() request: Request, \@Res() response: Response) {
 *   await nestAnswer(this.seats, request, response, ({ tx, json }) => ({ status: 201, json: open(tx, json()) }))
 * }
 */
export async function nestAnswer<Tx, M extends Mode>(
  guard: Guard<Tx, M>,
  request: NodeRequest | FastifyRequestLike,
  response: ServerResponse | FastifyReplyLike,
  handler: Handler<Tx, M>,
): Promise<void> {
  if ('raw' in request) {
    await fastifyRoute(guard, handler)(request, response as FastifyReplyLike)
    return
  }
  await guardedRoute(guard, handler)(request, response as ServerResponse, (error) => {
    throw error
  })
}
