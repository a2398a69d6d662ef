import { type Transport, type TransportOptions, transport } from '../transport.ts'
import type { RabbitServer } from './connection.ts'
import { RabbitPublisher } from './publisher.ts'

export type { RabbitServer } from './connection.ts'
export { type RabbitConsumerOptions, rabbitConsumer } from './consumer.ts'

export interface RabbitTransportOptions<InTurn extends boolean> extends TransportOptions<InTurn> {
  readonly server: RabbitServer
  /** Exists already. Absent: the default exchange, where `to` is the name of a queue; else `to` is the routing key. */
  readonly exchange?: string
}

/**
 * RabbitMQ as a recipient. It knows no duplicates: what is sent again lies there twice, under one `message-id`. Use
 * quorum queues: what a classic queue confirmed dies with its node.
 *
 * @param name names the recipient in the ledger for ever
 * @throws CounterfoilError `contract_invalid`, `config_invalid`
 */
export function rabbitTransport<const InTurn extends boolean = false>(
  name: string,
  options: RabbitTransportOptions<InTurn>,
): Transport<InTurn> {
  return transport(name, new RabbitPublisher(options.server, options.exchange), options)
}
