/** Kafka, through whatever client the program has: `counterfoil/kafka`. */

import { type Transport, type TransportOptions, transport } from '../transport.ts'
import type { KafkaProducer } from './client.ts'
import { KafkaPublisher } from './publisher.ts'

export type { KafkaMember, KafkaProducer, KafkaReceived, KafkaRecord } from './client.ts'
export { type KafkaConsumerOptions, kafkaConsumer } from './consumer.ts'
export { librdkafkaMember, librdkafkaProducer } from './librdkafka.ts'

export interface KafkaTransportOptions<InTurn extends boolean> extends TransportOptions<InTurn> {
  /** Makes the producer, when the first record is sent. */
  readonly producer: () => Promise<KafkaProducer>
}

/**
 * Kafka as a recipient: `to` is a topic, and the ordering domain is the record's key, which keeps it in one partition. An
 * idempotent producer drops its own repeats and no one else's: an attempt after a restart is a second record of one id.
 *
 * @param name names the recipient in the ledger for ever
 * @throws CounterfoilError `contract_invalid`, `config_invalid`
 */
export function kafkaTransport<const InTurn extends boolean = false>(
  name: string,
  options: KafkaTransportOptions<InTurn>,
): Transport<InTurn> {
  return transport(name, new KafkaPublisher(options.producer), options)
}
