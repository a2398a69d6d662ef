/** SQS FIFO queues and SNS FIFO topics, through a client that the program has: `counterfoil/aws`. */

import type { Duration } from '../../domain/index.ts'
import { type Transport, type TransportOptions, transport } from '../transport.ts'
import { type FifoAnswer, type FifoFields, FifoPublisher } from './fifo-publisher.ts'

export type { FifoAnswer, FifoFields } from './fifo-publisher.ts'

/** `new SendMessageCommand(input)` of `@aws-sdk/client-sqs` takes it. */
export interface SqsInput extends FifoFields {
  readonly QueueUrl: string
  readonly MessageBody: string
}

/** `new PublishCommand(input)` of `@aws-sdk/client-sns` takes it. */
export interface SnsInput extends FifoFields {
  readonly TopicArn: string
  readonly Message: string
}

type Send<Input> = (input: Input, options: { readonly abortSignal: AbortSignal }) => Promise<FifoAnswer>

export interface SqsTransportOptions<InTurn extends boolean> extends TransportOptions<InTurn> {
  /** `(input, options) => client.send(new SendMessageCommand(input), options)` */
  readonly send: Send<SqsInput>
}

export interface SnsTransportOptions<InTurn extends boolean> extends TransportOptions<InTurn> {
  /** `(input, options) => client.send(new PublishCommand(input), options)` */
  readonly send: Send<SnsInput>
}

/**
 * How long the service drops a second message of the same deduplication id (SQS Developer Guide, FIFO key terms; SNS says
 * the same). Later it is another message: with `consumersRemember: 'nothing'` nothing is repeated in its last tenth or after.
 */
export const deduplicationInterval: Duration = '5m'

/** SQS FIFO queues as a recipient: `to` is the URL of one. @throws CounterfoilError `contract_invalid`, `config_invalid` */
export function sqsTransport<const InTurn extends boolean = false>(
  name: string,
  options: SqsTransportOptions<InTurn>,
): Transport<InTurn> {
  const publisher = new FifoPublisher('sqs', (QueueUrl, MessageBody, fields, about) =>
    options.send({ QueueUrl, MessageBody, ...fields }, about),
  )
  return transport(name, publisher, options, deduplicationInterval)
}

/** SNS FIFO topics as a recipient: `to` is the ARN of one. @throws CounterfoilError `contract_invalid`, `config_invalid` */
export function snsTransport<const InTurn extends boolean = false>(
  name: string,
  options: SnsTransportOptions<InTurn>,
): Transport<InTurn> {
  const publisher = new FifoPublisher('sns', (TopicArn, Message, fields, about) =>
    options.send({ TopicArn, Message, ...fields }, about),
  )
  return transport(name, publisher, options, deduplicationInterval)
}
