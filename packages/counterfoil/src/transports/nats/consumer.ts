import { AckPolicy, type JsMsg, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { headers, type NatsConnection } from '@nats-io/transport-node'
import { CounterfoilError, type Duration, milliseconds } from '../../domain/index.ts'
import type { BrokerMessage, Consumer, ConsumerPorts, Verdict } from '../consumer.ts'
import { type BrokerSide, Consuming, type Session } from '../consuming.ts'
import { Connection, type NatsServers } from './connection.ts'

export interface NatsConsumerOptions {
  readonly servers: NatsServers
  readonly stream: string
  /** Name of the durable consumer, which all processes of this program share. Made where it does not exist. */
  readonly durable: string
  /** Of the stream's messages, those on this subject; wildcards as NATS has them. Used when the consumer is made. */
  readonly subject?: string
  /**
   * Where messages go that are refused for good, with why in their headers: a subject of another stream. Never one that
   * this consumer reads.
   */
  readonly deadLetter: string
  /** Messages in hand at once in this process. Default 64. */
  readonly inFlight?: number
  /** How long after its process died a message is handed over again. Used when the consumer is made. Default `30s`. */
  readonly ackWait?: Duration
}

/** How long one request for messages waits for some, in milliseconds. The least that the client allows. */
const pullMs = 1_000
/** After an error of ours: the message comes again, and not at once. */
const againMs = 5_000

/**
 * Messages of a JetStream stream, by a durable pull consumer with explicit acknowledgement.
 *
 * @throws CounterfoilError `config_invalid`
 */
export function natsConsumer(options: NatsConsumerOptions): Consumer {
  return new Consuming(new NatsSide(options), options)
}

class NatsSide implements BrokerSide {
  readonly faultOf = faultOf
  readonly broker = 'nats'
  readonly #options: NatsConsumerOptions
  readonly #connection: Connection
  readonly #ackWaitMs: number

  constructor(options: NatsConsumerOptions) {
    this.#options = options
    this.#connection = new Connection(options.servers)
    this.#ackWaitMs = milliseconds(options.ackWait ?? '30s')
    if (this.#ackWaitMs < 100) {
      throw new CounterfoilError('config_invalid', 'The ackWait of a NATS consumer is shorter than 100 ms.', {
        hint: 'Give the time after which a message of a process that died comes again, such as 30s.',
      })
    }
  }

  async session(session: Session): Promise<void> {
    const connection = await this.#connection.get()
    await this.#prepare(connection)
    await this.#pull(connection, session)
    await session.inHand.empty()
    // An acknowledgement lies in the client's buffer until then.
    await connection.flush()
  }

  async close(): Promise<void> {
    await this.#connection.close()
  }

  async #prepare(connection: NatsConnection): Promise<void> {
    const { stream, durable, subject } = this.#options
    const manager = await jetstreamManager(connection, { checkAPI: false })
    const known = await manager.consumers.info(stream, durable).catch((error: unknown) => {
      if (error instanceof Error && error.name === 'ConsumerNotFoundError') return undefined
      throw error
    })
    const { config } =
      known ??
      (await manager.consumers.add(stream, {
        durable_name: durable,
        ack_policy: AckPolicy.Explicit,
        ack_wait: this.#ackWaitMs * 1_000_000,
        max_deliver: -1,
        ...(subject === undefined ? {} : { filter_subject: subject }),
      }))
    // The broker would drop a message by itself while our store is away.
    if (config.ack_policy !== AckPolicy.Explicit || (config.max_deliver ?? -1) !== -1) {
      throw new CounterfoilError(
        'config_invalid',
        `The consumer ${durable} of stream ${stream} gives up messages by itself: it needs explicit acknowledgement and no max_deliver.`,
      )
    }
  }

  async #pull(connection: NatsConnection, session: Session): Promise<void> {
    const { stream, durable } = this.#options
    const { inHand, stop, onGood } = session
    const consumer = await jetstream(connection).consumers.get(stream, durable)
    const closed = connection.closed().then((error) => {
      throw error ?? new Error('closed')
    })
    closed.catch(() => {})
    while (!stop.aborted) {
      await Promise.race([inHand.room(), closed])
      const messages = await consumer.fetch({ max_messages: inHand.free, expires: pullMs })
      onGood()
      const stopped = () => messages.stop()
      stop.addEventListener('abort', stopped, { once: true })
      try {
        await Promise.race([this.#takeAll(messages, session, connection), closed])
      } finally {
        stop.removeEventListener('abort', stopped)
      }
    }
  }

  async #takeAll(
    messages: AsyncIterable<JsMsg>,
    session: Session,
    connection: NatsConnection,
  ): Promise<void> {
    for await (const message of messages) {
      session.inHand.hold(this.#settle(message, session, connection))
    }
  }

  async #settle(message: JsMsg, ports: ConsumerPorts, connection: NatsConnection): Promise<void> {
    // While it is in hand nobody else gets it.
    const alive = setInterval(() => message.working(), this.#ackWaitMs / 3)
    try {
      const handed = toBrokerMessage(message)
      const verdict = await ports.take(handed)
      if (verdict.kind === 'acknowledge') message.ack()
      else if (verdict.kind === 'again') message.nak(verdict.afterMs)
      else await this.#putAside(message, handed, verdict, connection)
    } catch (error) {
      // Not settled: it comes again.
      ports.onFault(faultOf(error))
      message.nak(againMs)
    } finally {
      clearInterval(alive)
    }
  }

  /** Only what lies in the other stream is ended here. */
  async #putAside(
    message: JsMsg,
    { position }: BrokerMessage,
    { code, why }: Extract<Verdict, { kind: 'reject' }>,
    connection: NatsConnection,
  ): Promise<void> {
    const own = headers()
    for (const [name, values] of message.headers ?? []) for (const value of values) own.append(name, value)
    // They were meant for the stream that it came from; and that of the id could have the copy dropped.
    for (const name of own.keys()) if (/^nats-/i.test(name)) own.delete(name)
    own.set('counterfoil-refused', code)
    own.set('counterfoil-why', why.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 200))
    own.set('counterfoil-from', position)
    const id = message.headers?.get('Nats-Msg-Id')
    if (id) own.set('counterfoil-msg-id', id)
    await jetstream(connection).publish(this.#options.deadLetter, message.data, { headers: own })
    message.term()
  }
}

function toBrokerMessage(message: JsMsg): BrokerMessage {
  const all: Record<string, string> = {}
  for (const [name, values] of message.headers ?? []) all[name.toLowerCase()] = values.join(', ')
  const { stream, streamSequence, deliveryCount } = message.info
  return {
    headers: all,
    body: message.data,
    deliveries: deliveryCount,
    position: `${stream} ${streamSequence}`,
  }
}

function faultOf(error: unknown): string {
  if (error instanceof CounterfoilError) return error.message
  return error instanceof Error ? error.name : 'an unknown fault'
}
