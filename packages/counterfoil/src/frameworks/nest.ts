/** Deliveries in an application of Nest, on Express or Fastify. */

import type { ServerResponse } from 'node:http'
import { All, Controller, type DynamicModule, Module, Req, Res } from '@nestjs/common'
import type { Counterfoil } from '../counterfoil.ts'
import type { ReplyLike } from './fastify.ts'
import { answer, arrivalOf, type FrameworkRequest } from './node.ts'

/** A request of Nest on Fastify. */
export interface OnFastify {
  readonly raw: FrameworkRequest
  readonly rawBody?: unknown
}

/** Both of Nest's platforms know them, and they write wildcards in two ways. A name of a producer may have slashes. */
const paths = ['in/:name', 'in/:name/:of', 'in/:name/:of/:its', 'in/:name/:of/:its/:parts']

/**
 * A module that answers deliveries at `/in/{producer}`, starts the application with Nest's and stops it with Nest's.
 * Create Nest with `{ rawBody: true }`, so that its body parser keeps the bytes, or with `{ bodyParser: false }`; without
 * either, deliveries are refused with `body_already_read`.
 *
 * @param options.work false where another process plans and attempts
 * @example
 * \@Module({ imports: [receiver(app)] })
 * class Shop {}
 * const nest = await NestFactory.create(Shop, { rawBody: true })
 */
export function receiver(app: Counterfoil<any>, options: { readonly work?: boolean } = {}): DynamicModule {
  class Deliveries {
    async receive(
      request: FrameworkRequest | OnFastify,
      response: ServerResponse | ReplyLike,
    ): Promise<void> {
      if ('raw' in request) {
        // Fastify's parser has read the socket; Nest keeps what it read on Fastify's own request.
        const raw = Object.assign(request.raw, { rawBody: request.rawBody })
        ;(response as ReplyLike).send(await app.receiveArrival(arrivalOf(raw)))
      } else {
        await answer(response as ServerResponse, await app.receiveArrival(arrivalOf(request)))
      }
    }
  }
  class ReceiverModule {
    async onApplicationBootstrap(): Promise<void> {
      await app.start(options)
    }
    async onApplicationShutdown(): Promise<void> {
      await app.stop()
    }
  }
  // Decorators by hand: these sources run as they are, and Node knows no decorators yet.
  const { prototype } = Deliveries
  Controller()(Deliveries)
  All(paths)(prototype, 'receive', Object.getOwnPropertyDescriptor(prototype, 'receive')!)
  Req()(prototype, 'receive', 0)
  Res()(prototype, 'receive', 1)
  Module({})(ReceiverModule)
  return { module: ReceiverModule, controllers: [Deliveries] }
}
