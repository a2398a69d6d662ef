import { structuredMessage } from '../../intake/index.ts'
import { groupIdOf } from '../group-id.ts'
import type { Message } from '../message.ts'
import type { PublishAbout, Published, Publisher } from '../publisher.ts'
import { readFailure } from './outcomes.ts'

/** What SQS and SNS have in common of a message to a FIFO queue or topic. */
export interface FifoFields {
  readonly MessageDeduplicationId: string
  readonly MessageGroupId: string
}

/** The part of an answer of the AWS SDK that is read. */
export interface FifoAnswer {
  readonly MessageId?: string | undefined
  readonly SequenceNumber?: string | undefined
}

export type SendFifo = (
  to: string,
  body: string,
  fields: FifoFields,
  options: { readonly abortSignal: AbortSignal },
) => Promise<FifoAnswer>

/**
 * CloudEvents in structured mode to a FIFO queue or topic. The service drops a second message of one deduplication id for
 * five minutes and does not say so. A group is mandatory there: what claims no order is a group of its own.
 */
export class FifoPublisher implements Publisher {
  readonly broker: string
  readonly #send: SendFifo

  constructor(broker: string, send: SendFifo) {
    this.broker = broker
    this.#send = send
  }

  async publish(message: Message, { signal }: PublishAbout): Promise<Published> {
    if (signal.aborted) return { kind: 'notActed', why: 'it was stopped before it began' }
    const { to, event, duplicateId } = message
    if (!to.endsWith('.fifo'))
      return { kind: 'refused', why: `'${to.slice(-80)}' is not FIFO and would keep duplicates` }
    const fields = { MessageDeduplicationId: duplicateId, MessageGroupId: groupIdOf(message) ?? duplicateId }
    const body = Buffer.from(structuredMessage(event).body).toString()
    try {
      const answer = await this.#send(to, body, fields, { abortSignal: signal })
      if (answer.MessageId === undefined) return { kind: 'unknown', why: 'the answer names no message' }
      return { kind: 'confirmed', position: [answer.MessageId, answer.SequenceNumber].join(' ').trim() }
    } catch (error) {
      return readFailure(error)
    }
  }

  /** The client is the program's own. */
  async close(): Promise<void> {}
}
