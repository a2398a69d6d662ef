import { headers, type NatsConnection } from '@nats-io/transport-node'
import { binaryMessage } from '../../intake/index.ts'
import type { Message } from '../message.ts'
import type { PublishAbout, Published, Publisher } from '../publisher.ts'
import { Connection, type NatsServers } from './connection.ts'
import { type PubAck, readFailure, readPubAck } from './outcomes.ts'

export interface NatsPublisherOptions {
  readonly servers: NatsServers
  readonly stream: string
  /** Says of each ordered message which one is before it on its subject. */
  readonly subjectPerDomain: boolean
}

/**
 * CloudEvents in binary mode (NATS protocol binding) into one JetStream stream. `Nats-Msg-Id` is made of source and id,
 * and the stream's acknowledgement is awaited.
 */
export class NatsPublisher implements Publisher {
  readonly broker = 'nats'
  readonly #options: NatsPublisherOptions
  readonly #connection: Connection

  constructor(options: NatsPublisherOptions) {
    this.#options = options
    this.#connection = new Connection(options.servers)
  }

  async publish(message: Message, { signal, deadline }: PublishAbout): Promise<Published> {
    if (signal.aborted) return { kind: 'notActed', why: 'it was stopped before it began' }
    let connection: NatsConnection
    try {
      connection = await this.#connection.get()
    } catch (error) {
      return {
        kind: 'notActed',
        why: `no connection to NATS (${error instanceof Error ? error.name : 'unknown'})`,
      }
    }
    const timeout = () => Math.max(1, deadline - Date.now())
    const isChained = this.#options.subjectPerDomain && message.order !== null
    let before: number | null = null
    if (isChained) {
      const last = await this.#lastOn(connection, message, timeout())
      if (typeof last !== 'number') return last
      before = last
    }
    // Nothing was sent while the connection was made and the stream was asked.
    if (signal.aborted) return { kind: 'notActed', why: 'it was stopped before it was sent' }
    const { headers: own, body } = this.#onTheWire(message, before)
    try {
      const answer = await connection.request(message.to, body, { timeout: timeout(), headers: own })
      return readPubAck(answer.json<PubAck>())
    } catch (error) {
      return readFailure(error)
    }
  }

  async close(): Promise<void> {
    await this.#connection.close()
  }

  #onTheWire(message: Message, before: number | null) {
    const wire = binaryMessage(message.event)
    const own = headers()
    for (const [name, value] of Object.entries(wire.headers)) own.set(name, value)
    own.set('Nats-Msg-Id', message.duplicateId)
    own.set('Nats-Expected-Stream', this.#options.stream)
    if (before !== null) own.set('Nats-Expected-Last-Subject-Sequence', String(before))
    return { headers: own, body: wire.body }
  }

  /**
   * The number of the last message on a subject; 0 where there is none. When that message is this one, an earlier attempt
   * has put it there. To name the last one is to say that nothing may come between: a publish that was stalled cannot
   * land any more once another has.
   */
  async #lastOn(
    connection: NatsConnection,
    { to, duplicateId }: Message,
    timeout: number,
  ): Promise<number | Published> {
    const { stream } = this.#options
    try {
      const asked = JSON.stringify({ last_by_subj: to })
      const answer = await connection.request(`$JS.API.STREAM.MSG.GET.${stream}`, asked, { timeout })
      const { message, error } = answer.json<LastMessage>()
      if (error?.err_code === noMessageFound) return 0
      if (message === undefined) {
        return {
          kind: 'notActed',
          why: `the stream did not tell its last message: ${error?.err_code ?? 'no code'}`,
        }
      }
      if (messageIdOf(message.hdrs) === duplicateId) {
        return { kind: 'confirmed', position: `${stream} ${message.seq}`, duplicate: true }
      }
      return message.seq
    } catch (error) {
      const name = error instanceof Error ? error.name : 'unknown'
      return {
        kind: 'notActed',
        why: `the stream did not tell its last message (${name}), so nothing was sent`,
      }
    }
  }
}

const noMessageFound = 10037

interface LastMessage {
  readonly message?: { readonly seq: number; readonly hdrs?: string }
  readonly error?: { readonly err_code?: number }
}

/** Headers as the stream keeps them: base64 of a block like that of HTTP. */
function messageIdOf(block: string | undefined): string | undefined {
  const text = Buffer.from(block ?? '', 'base64').toString()
  return /^Nats-Msg-Id: *(\S+)\r?$/im.exec(text)?.[1]
}
