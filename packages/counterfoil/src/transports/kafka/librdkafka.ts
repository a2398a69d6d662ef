import type { KafkaMember, KafkaProducer, KafkaReceived, KafkaRecord } from './client.ts'

/** The part of the package `kafka-crab-js` (librdkafka) that is used. */
interface CrabProducer {
  send(record: {
    topic: string
    messages: { payload: Buffer; key?: Buffer; headers: Record<string, Buffer> }[]
  }): Promise<readonly { partition: number; offset: number; error?: { code: number; message: string } }[]>
}

interface CrabMessage {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly key?: Buffer
  readonly payload: Buffer
  readonly headers?: Record<string, Buffer>
}

interface CrabConsumer {
  recvBatch(most: number, timeoutMs: number): Promise<readonly CrabMessage[]>
  commit(topic: string, partition: number, next: number, mode: 'Sync'): Promise<void>
  disconnect(): Promise<void>
}

/** How long one question for records waits for some, in milliseconds. */
const pollMs = 250

/**
 * A producer of `kafka-crab-js`, made by the program with `'enable.idempotence': true`, `acks: 'all'` and a
 * `message.timeout.ms` below the transport's time-out.
 */
export function librdkafkaProducer(producer: CrabProducer): KafkaProducer {
  return {
    async send({ topic, key, value, headers }: KafkaRecord) {
      const message = { payload: value, headers: { ...headers }, ...(key === null ? {} : { key }) }
      const [done] = await producer.send({ topic, messages: [message] })
      if (done === undefined || done.error !== undefined)
        throw Object.assign(new Error('not confirmed'), { name: 'DeliveryFailed', code: done?.error?.code })
      return { partition: done.partition, offset: done.offset }
    },
    // Each send waits for its confirmation: nothing is left in a buffer.
    async close() {},
  }
}

/** A consumer of `kafka-crab-js` that the program has subscribed, with `enableAutoCommit: false`. */
export function librdkafkaMember(consumer: CrabConsumer): KafkaMember {
  return {
    async poll(most) {
      const messages = await consumer.recvBatch(most, pollMs)
      return messages.map(
        ({ topic, partition, offset, key = null, payload, headers = {} }): KafkaReceived => ({
          topic,
          partition,
          offset,
          key,
          value: payload,
          headers,
        }),
      )
    },
    commit: ({ topic, partition, next }) => consumer.commit(topic, partition, next, 'Sync'),
    leave: () => consumer.disconnect(),
  }
}
