/** Deliveries in an application of Koa. */

import { arrivalOf, type FrameworkRequest, type Receives } from './node.ts'

export type { FrameworkRequest, Receives } from './node.ts'

/** What the receiver uses of a context of Koa. */
export interface KoaContextLike {
  readonly req: FrameworkRequest
  readonly path: string
  readonly originalUrl: string
  status: number
  body: unknown
  set(headers: Record<string, string>): void
}

/**
 * Answers deliveries at `…/in/{producer}`; other paths go on. Place it before any body parser.
 *
 * @example
 * koa.use(receiver(app))
 * koa.use(bodyParser())
 */
export function receiver(
  app: Receives,
): (context: KoaContextLike, next: () => Promise<unknown>) => Promise<void> {
  return async (context, next) => {
    if (!context.path.includes('/in/')) {
      await next()
      return
    }
    const { req, originalUrl } = context
    const answer = await app.receiveArrival({ ...arrivalOf(req), url: originalUrl })
    context.status = answer.status
    context.set(Object.fromEntries(answer.headers))
    context.body = Buffer.from(await answer.arrayBuffer())
  }
}
