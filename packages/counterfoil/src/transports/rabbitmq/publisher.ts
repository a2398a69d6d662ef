import type { ConfirmChannel } from 'amqplib'
import { structuredMessage } from '../../intake/index.ts'
import type { Message } from '../message.ts'
import type { PublishAbout, Published, Publisher } from '../publisher.ts'
import { Connection, faultOf, type RabbitServer } from './connection.ts'

interface Open {
  readonly channel: ConfirmChannel
  /** Messages that no queue took, by what tells one publish from another. */
  readonly returned: Set<string>
}

/**
 * CloudEvents in structured mode to an exchange, persistent and mandatory, on a channel with publisher confirms. A
 * confirm of a quorum queue comes when a majority has written the message. One that does not come in time leaves it
 * unknown and gives the channel up: RabbitMQ may never confirm there again what it was sent while a leader died.
 */
export class RabbitPublisher implements Publisher {
  readonly broker = 'rabbitmq'
  readonly #connection: Connection<Open>
  readonly #exchange: string
  #sent = 0

  /** @param exchange empty: `to` is the name of a queue; else its routing key */
  constructor(server: RabbitServer, exchange = '') {
    this.#exchange = exchange
    this.#connection = new Connection(server, async (connection) => {
      const channel = await connection.createConfirmChannel()
      const returned = new Set<string>()
      channel.on('return', ({ properties }) => void returned.add(String(properties.correlationId)))
      // An exchange that is not there ends the channel: the connection is given up with it.
      channel.on('error', () => {})
      channel.on('close', () => this.#connection.forget())
      return { channel, returned }
    })
  }

  async publish(message: Message, { signal, deadline }: PublishAbout): Promise<Published> {
    if (signal.aborted) return { kind: 'notActed', why: 'it was stopped before it began' }
    let open: Open
    try {
      open = await this.#connection.get()
    } catch (error) {
      return { kind: 'notActed', why: `no connection to RabbitMQ (${faultOf(error)})` }
    }
    if (signal.aborted) return { kind: 'notActed', why: 'it was stopped before it was sent' }
    return await this.#send(open, message, deadline)
  }

  async close(): Promise<void> {
    await this.#connection.close()
  }

  async #send({ channel, returned }: Open, message: Message, deadline: number): Promise<Published> {
    const { headers, body } = structuredMessage(message.event)
    const attempt = `${message.id} ${++this.#sent}`
    return await new Promise<Published>((resolve) => {
      const timer = setTimeout(
        () => {
          resolve({ kind: 'unknown', why: 'no confirm came in time; its channel is given up' })
          this.#connection.forget()
        },
        Math.max(1, deadline - Date.now()),
      )
      const end = (published: Published) => {
        clearTimeout(timer)
        resolve(published)
      }
      try {
        channel.publish(
          this.#exchange,
          message.to,
          Buffer.from(body),
          {
            mandatory: true,
            persistent: true,
            messageId: message.id,
            // A returned message comes back with it, before its confirm.
            correlationId: attempt,
            type: message.event.type,
            ...(headers['content-type'] === undefined ? {} : { contentType: headers['content-type'] }),
          },
          (error) => end(this.#confirmed(error, returned.delete(attempt), message)),
        )
      } catch (error) {
        // The channel was closed before a byte was written.
        end({ kind: 'notActed', why: `its channel is closed (${faultOf(error)})` })
      }
    })
  }

  #confirmed(error: unknown, wasReturned: boolean, { to }: Message): Published {
    // A nack says that a queue failed, not that none of its members has the message.
    if (error !== null) return { kind: 'unknown', why: nackOf(error) }
    if (wasReturned) return { kind: 'notActed', why: `RabbitMQ returned it: no queue is bound for '${to}'` }
    return { kind: 'confirmed', position: this.#exchange === '' ? to : `${this.#exchange} ${to}` }
  }
}

function nackOf(error: unknown): string {
  const { message } = error as Error
  return message === 'message nacked'
    ? 'RabbitMQ did not take it on (nack)'
    : 'the channel was lost before a confirm came'
}
