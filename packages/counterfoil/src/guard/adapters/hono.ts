import type { Guard, Handler } from '../guard.ts'
import type { Mode } from '../store.ts'

/** What the guard uses of a context of Hono. */
export interface HonoContextLike {
  readonly req: { readonly raw: Request }
}

/**
 * For Hono: guards one route. Place it before anything that reads the body.
 *
 * @example
 * app.post('/seats', honoRoute(seats, ({ tx, json }) => ({ status: 201, json: open(tx, json()) })))
 */
export function honoRoute<Tx, M extends Mode, Context extends HonoContextLike>(
  guard: Guard<Tx, M>,
  handler: (guarded: Parameters<Handler<Tx, M>>[0], context: Context) => ReturnType<Handler<Tx, M>>,
) {
  return async (context: Context): Promise<Response> =>
    await guard.handle(context.req.raw, (guarded) => handler(guarded, context))
}

/** Serves a guard's contract, lookups and tombstones: `app.use(honoPaths(seats))`. Other paths go on. */
export function honoPaths(guard: Guard<any, any>) {
  return async (context: HonoContextLike, next: () => Promise<void>): Promise<Response | undefined> => {
    const response = await guard.serve(context.req.raw)
    if (response !== null) return response
    await next()
    return undefined
  }
}
