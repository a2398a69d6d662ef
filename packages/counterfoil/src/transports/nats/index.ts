import type { Duration } from '../../domain/index.ts'
import { type Transport, type TransportOptions, transport } from '../transport.ts'
import type { NatsServers } from './connection.ts'
import { NatsPublisher } from './publisher.ts'

export type { NatsServers } from './connection.ts'
export { type NatsConsumerOptions, natsConsumer } from './consumer.ts'

export interface NatsTransportOptions<InTurn extends boolean> extends TransportOptions<InTurn> {
  readonly servers: NatsServers
  /** The stream that listens on the subjects. A message that would land in another one is not sent. */
  readonly stream: string
  /** Its `duplicate_window`: so long it drops a second message of the same id. Default `2m`, as JetStream's own. */
  readonly duplicateWindow?: Duration
  /**
   * Each ordering domain has a subject of its own, on which nothing else is published, and the stream keeps its last
   * message. Then each ordered message names the one before it (`Nats-Expected-Last-Subject-Sequence`), and a publish
   * that was stalled for however long cannot land out of its turn, nor twice. Default false.
   */
  readonly subjectPerDomain?: boolean
}

/**
 * A NATS JetStream stream as a recipient: each effect is a message, with `to` as its subject.
 *
 * @param name names the recipient in the ledger for ever
 * @throws CounterfoilError `contract_invalid`, `config_invalid`
 */
export function natsTransport<const InTurn extends boolean = false>(
  name: string,
  options: NatsTransportOptions<InTurn>,
): Transport<InTurn> {
  const { servers, stream, duplicateWindow = '2m', subjectPerDomain = false } = options
  const publisher = new NatsPublisher({ servers, stream, subjectPerDomain })
  return transport(name, publisher, options, duplicateWindow)
}
