import { setTimeout as wait } from 'node:timers/promises'
import type { ConfirmChannel, ConsumeMessage } from 'amqplib'
import type { BrokerMessage, Consumer, Verdict } from '../consumer.ts'
import { type BrokerSide, Consuming, type Session } from '../consuming.ts'
import { Connection, faultOf, type RabbitServer } from './connection.ts'

export interface RabbitConsumerOptions {
  readonly server: RabbitServer
  /** Exists already: its type and its limits are decisions of whoever runs the broker. */
  readonly queue: string
  /** The queue where messages go that are refused for good, whole and with why in their headers. Exists already. */
  readonly deadLetter: string
  /** Messages in hand at once in this process: the prefetch, and so the back-pressure. Default 64. */
  readonly inFlight?: number
  /**
   * A message that was handed over more often is put aside untried. Only quorum queues count; a classic one says no more
   * than that it is not the first time.
   */
  readonly maxDeliveries?: number
}

/** Messages of a queue, each acknowledged for itself after the commit of its receipt. */
export function rabbitConsumer(options: RabbitConsumerOptions): Consumer {
  return new Consuming(new RabbitSide(options), options)
}

class RabbitSide implements BrokerSide {
  readonly faultOf = faultOf
  readonly broker = 'rabbitmq'
  readonly #options: RabbitConsumerOptions
  readonly #connection: Connection<ConfirmChannel>

  constructor(options: RabbitConsumerOptions) {
    this.#options = options
    const { server, inFlight = 64 } = options
    this.#connection = new Connection(server, async (connection) => {
      const channel = await connection.createConfirmChannel()
      channel.on('error', () => {})
      await channel.prefetch(inFlight)
      return channel
    })
  }

  async session(session: Session): Promise<void> {
    try {
      const channel = await this.#connection.get()
      session.onGood()
      await this.#consume(channel, session)
    } catch (error) {
      this.#connection.forget()
      throw error
    }
  }

  async close(): Promise<void> {
    await this.#connection.close()
  }

  /** Until it is stopped. Rejects when the channel or the queue is gone. */
  async #consume(channel: ConfirmChannel, session: Session): Promise<void> {
    const { inHand, stop } = session
    let lost = (_: Error) => {}
    const gone = new Promise<never>((_, reject) => {
      lost = reject
    })
    gone.catch(() => {})
    channel.on('close', () => lost(new Error('closed')))
    const consuming = channel.consume(this.#options.queue, (message) => {
      // Null: the queue was deleted, or its node went away.
      if (message === null) lost(new Error('cancelled'))
      else inHand.hold(this.#settle(channel, message, session))
    })
    consuming.catch(() => {})
    const { consumerTag } = await Promise.race([consuming, gone])
    const stopped = new Promise<void>((resolve) =>
      stop.aborted ? resolve() : stop.addEventListener('abort', () => resolve(), { once: true }),
    )
    await Promise.race([stopped, gone])
    await Promise.race([channel.cancel(consumerTag), gone])
    await inHand.empty()
    // A question that is answered after the acknowledgements before it were read.
    await Promise.race([channel.close(), gone.catch(() => {})])
  }

  async #settle(channel: ConfirmChannel, message: ConsumeMessage, session: Session): Promise<void> {
    try {
      const handed = toBrokerMessage(this.#options.queue, message)
      const verdict = await session.take(handed)
      if (verdict.kind === 'acknowledge') channel.ack(message)
      else if (verdict.kind === 'again') {
        // In hand meanwhile: what cannot be committed now holds its place.
        await wait(verdict.afterMs, undefined, { signal: session.stop }).catch(() => {})
        channel.nack(message, false, true)
      } else await this.#putAside(channel, message, handed, verdict)
    } catch (error) {
      // Not settled: it comes again, at the latest when the channel ends.
      session.onFault(faultOf(error))
      this.#connection.forget()
    }
  }

  /** By our own hand and not by the queue's dead-letter exchange: where there is none, RabbitMQ would drop it. */
  async #putAside(
    channel: ConfirmChannel,
    message: ConsumeMessage,
    { position }: BrokerMessage,
    { code, why }: Extract<Verdict, { kind: 'reject' }>,
  ): Promise<void> {
    const { deadLetter } = this.#options
    // In the other queue it is to stay.
    const { headers, expiration: _, ...properties } = message.properties
    // Without the queue a message that is not mandatory would be confirmed and gone.
    await channel.checkQueue(deadLetter)
    await new Promise<void>((resolve, reject) => {
      const own = { 'counterfoil-refused': code, 'counterfoil-why': why, 'counterfoil-from': position }
      channel.sendToQueue(
        deadLetter,
        message.content,
        { ...properties, persistent: true, headers: { ...headers, ...own } },
        (error) => (error === null ? resolve() : reject(error)),
      )
    })
    channel.ack(message)
  }
}

function toBrokerMessage(queue: string, { properties, content, fields }: ConsumeMessage): BrokerMessage {
  const { contentType, messageId, type, headers = {} } = properties
  const own = { 'content-type': contentType, 'message-id': messageId, type }
  const all = Object.entries({ ...headers, ...own }).flatMap(([name, value]) =>
    typeof value === 'string' || typeof value === 'number' ? [[name.toLowerCase(), String(value)]] : [],
  )
  const counted: unknown = headers['x-delivery-count']
  const before = typeof counted === 'number' ? counted : fields.redelivered ? 1 : 0
  return {
    headers: Object.fromEntries(all),
    body: content,
    deliveries: before + 1,
    position: `${queue} ${fields.deliveryTag}`,
  }
}
