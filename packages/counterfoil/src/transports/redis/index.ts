import { type Duration, milliseconds } from '../../domain/index.ts'
import { type Transport, type TransportOptions, transport } from '../transport.ts'
import type { RedisServer } from './connection.ts'
import { RedisPublisher } from './publisher.ts'

export type { RedisServer } from './connection.ts'
export { type RedisConsumerOptions, redisConsumer } from './consumer.ts'

export interface RedisTransportOptions<InTurn extends boolean> extends TransportOptions<InTurn> {
  readonly server: RedisServer
  /**
   * How long Redis drops a second entry of the same id: a script remembers each id beside its stream for so long.
   * Without it every attempt adds an entry, and copies have the same `id`.
   */
  readonly duplicateWindow?: Duration
}

/**
 * Redis Streams as a recipient: each effect is an entry, with `to` as the key of its stream.
 *
 * @param name names the recipient in the ledger for ever
 * @throws CounterfoilError `contract_invalid`, `config_invalid`
 */
export function redisTransport<const InTurn extends boolean = false>(
  name: string,
  options: RedisTransportOptions<InTurn>,
): Transport<InTurn> {
  const { server, duplicateWindow = null } = options
  const windowMs = duplicateWindow === null ? null : milliseconds(duplicateWindow)
  return transport(name, new RedisPublisher(server, windowMs), options, duplicateWindow)
}
