import { structuredMessage } from '../../intake/index.ts'
import { NotSent } from '../../recipients/index.ts'
import type { Message } from '../message.ts'
import type { PublishAbout, Published, Publisher } from '../publisher.ts'
import type { KafkaProducer } from './client.ts'

/** CloudEvents in structured mode (Kafka protocol binding 3.3), keyed by their ordering domain or by their id. */
export class KafkaPublisher implements Publisher {
  readonly broker = 'kafka'
  readonly #connect: () => Promise<KafkaProducer>
  #producer: Promise<KafkaProducer> | undefined

  constructor(connect: () => Promise<KafkaProducer>) {
    this.#connect = connect
  }

  async publish(message: Message, { signal }: PublishAbout): Promise<Published> {
    if (signal.aborted) return { kind: 'notActed', why: 'it was stopped before it began' }
    let producer: KafkaProducer
    try {
      this.#producer ??= this.#connect()
      producer = await this.#producer
    } catch (error) {
      this.#producer = undefined
      return { kind: 'notActed', why: `no Kafka producer (${nameOf(error)})` }
    }
    if (signal.aborted) return { kind: 'notActed', why: 'it was stopped before it was sent' }
    const { to, event, id, order } = message
    const { headers, body } = structuredMessage(event)
    const record = {
      topic: to,
      key: Buffer.from(order?.domain ?? id),
      value: Buffer.from(body),
      headers: { 'content-type': Buffer.from(headers['content-type'] ?? '') },
    }
    return await untilAborted(confirmed(producer, record), signal)
  }

  async close(): Promise<void> {
    const producer = this.#producer
    this.#producer = undefined
    await producer?.then(
      (one) => one.close(),
      () => {},
    )
  }
}

async function confirmed(
  producer: KafkaProducer,
  record: Parameters<KafkaProducer['send']>[0],
): Promise<Published> {
  try {
    const { partition, offset } = await producer.send(record)
    return { kind: 'confirmed', position: `${record.topic} ${partition} ${offset}` }
  } catch (error) {
    if (error instanceof NotSent) return { kind: 'notActed', why: error.message.slice(0, 200) }
    return { kind: 'unknown', why: `the producer failed with ${nameOf(error)}` }
  }
}

/** Clients of Kafka take no signal: the call is left alone, and whatever comes of it has the same id. */
async function untilAborted(published: Promise<Published>, signal: AbortSignal): Promise<Published> {
  let stop = () => {}
  const stopped = new Promise<Published>((resolve) => {
    stop = () => resolve({ kind: 'unknown', why: 'no confirmation came in time' })
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([published, stopped])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** Names and codes only: messages of errors may hold addresses and what was sent. */
export function nameOf(error: unknown): string {
  const { name, code } = (error ?? {}) as { name?: unknown; code?: unknown }
  const told = [name, code].filter((one) => typeof one === 'string' || typeof one === 'number')
  return told.length === 0 ? 'something' : told.join(' ').slice(0, 100)
}
