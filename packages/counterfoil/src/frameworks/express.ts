/** Deliveries in an application of Express, or in a listener of Node's own HTTP server. */

import type { ServerResponse } from 'node:http'
import { answer, arrivalOf, type FrameworkRequest, type Receives } from './node.ts'

export type { FrameworkRequest, Receives } from './node.ts'

/**
 * Answers deliveries at `…/in/{producer}`. Place it before `express.json()`; behind `express.raw({ type: '*\/*' })` it
 * takes the bytes that were kept.
 *
 * @example
 * server.all('/in/*producer', receiver(app))
 * server.use(express.json())
 */
export function receiver(
  app: Receives,
): (request: FrameworkRequest, response: ServerResponse) => Promise<void> {
  return async (request, response) => answer(response, await app.receiveArrival(arrivalOf(request)))
}
