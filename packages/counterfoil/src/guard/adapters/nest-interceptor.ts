import { ServerResponse } from 'node:http'
import { type CallHandler, type ExecutionContext, type NestInterceptor, StreamableFile } from '@nestjs/common'
import { from, mergeMap, type Observable } from 'rxjs'
import { CounterfoilError } from '../../domain/index.ts'
import type { StoredAnswer } from '../answer.ts'
import type { Guard, Handler } from '../guard.ts'
import type { Mode } from '../store.ts'
import { arrivalOf as arrivalOfFastify, type FastifyReplyLike, type FastifyRequestLike } from './fastify.ts'
import { arrivalOf, type NodeRequest } from './node.ts'

/**
 * For Nest, on Express or Fastify: guards the methods it is applied to. Such a method does nothing itself; it returns
 * the guarded handler, which is run or not as the request's key decides. Pipes and Nest's own guards come before, so
 * what they refuse takes no key; interceptors around it and exception filters see the method as any other.
 *
 * @example
 * \@Post('seats')
 * \@UseInterceptors(new GuardInterceptor(seats))
 * open(\@Body() seat: Seat) {
 *   return ({ tx }) => ({ status: 201, json: open(tx, seat) })
 * }
 */
export class GuardInterceptor<Tx, M extends Mode>
  implements NestInterceptor<Handler<Tx, M>, StreamableFile | undefined>
{
  readonly #guard: Guard<Tx, M>

  constructor(guard: Guard<Tx, M>) {
    this.#guard = guard
  }

  intercept(
    context: ExecutionContext,
    next: CallHandler<Handler<Tx, M>>,
  ): Observable<StreamableFile | undefined> {
    return next.handle().pipe(mergeMap((handler) => from(this.#answer(context, handler))))
  }

  async #answer(context: ExecutionContext, handler: Handler<Tx, M>): Promise<StreamableFile | undefined> {
    if (typeof handler !== 'function') throw noHandler(context)
    const http = context.switchToHttp()
    const request = http.getRequest<NodeRequest | FastifyRequestLike>()
    const arrival = 'raw' in request ? arrivalOfFastify(request) : arrivalOf(request)
    return reply(http.getResponse(), await this.#guard.handleArrival(arrival, handler))
  }
}

/** A stream is what both of Nest's platforms send as it is. */
function reply(
  response: ServerResponse | FastifyReplyLike,
  { status, headers, body }: StoredAnswer,
): StreamableFile | undefined {
  const all = [...headers, ['content-length', String(body.byteLength)] as const]
  if (response instanceof ServerResponse) {
    response.statusCode = status
    // Not Express's own `header`, which would add a charset.
    for (const [name, value] of all) response.setHeader(name, value)
  } else {
    response.status(status)
    for (const [name, value] of all) response.header(name, value)
  }
  return body.byteLength === 0 ? undefined : new StreamableFile(body)
}

function noHandler(context: ExecutionContext): CounterfoilError {
  const method = `${context.getClass().name}.${context.getHandler().name}`
  return new CounterfoilError('guard_answer_unfit', `${method} is guarded and returned no handler.`, {
    hint: 'Return ({ tx, json }) => ({ status, json }); do the work inside of it.',
  })
}
