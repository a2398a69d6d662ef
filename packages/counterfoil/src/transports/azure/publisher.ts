import { structuredMessage } from '../../intake/index.ts'
import { groupIdOf } from '../group-id.ts'
import type { Message } from '../message.ts'
import type { PublishAbout, Published, Publisher } from '../publisher.ts'

/** A message as `@azure/service-bus` takes it. */
export interface ServiceBusMessage {
  readonly body: Uint8Array
  readonly contentType: string
  readonly subject: string
  /** What duplicate detection compares. */
  readonly messageId: string
  /** Only on queues and subscriptions with sessions. */
  readonly sessionId?: string
}

/** The part of a `ServiceBusSender` that is used. */
export interface ServiceBusSender {
  sendMessages(message: ServiceBusMessage, options: { readonly abortSignal: AbortSignal }): Promise<void>
}

/** By the `code` of a `ServiceBusError`, where it says that the message was not taken. Any other proves nothing. */
const outcomes: ReadonlyMap<string, 'refused' | 'notActed'> = new Map([
  ['MessageSizeExceeded', 'refused'],
  ['MessagingEntityNotFound', 'notActed'],
  ['MessagingEntityDisabled', 'notActed'],
  ['UnauthorizedAccess', 'notActed'],
  ['QuotaExceeded', 'notActed'],
  ['ServiceBusy', 'notActed'],
])

/** CloudEvents in structured mode to queues and topics. `sendMessages` fulfils when the service has accepted the message. */
export class ServiceBusPublisher implements Publisher {
  readonly broker = 'service-bus'
  readonly #sender: (to: string) => ServiceBusSender

  constructor(sender: (to: string) => ServiceBusSender) {
    this.#sender = sender
  }

  async publish(message: Message, { signal }: PublishAbout): Promise<Published> {
    if (signal.aborted) return { kind: 'notActed', why: 'it was stopped before it began' }
    const { to, event, duplicateId } = message
    const { headers, body } = structuredMessage(event)
    const sessionId = groupIdOf(message)
    const sent = {
      body: Buffer.from(body),
      contentType: headers['content-type'] ?? '',
      subject: event.type,
      messageId: duplicateId,
      ...(sessionId === null ? {} : { sessionId }),
    }
    try {
      await this.#sender(to).sendMessages(sent, { abortSignal: signal })
      return { kind: 'confirmed', position: `${to} ${duplicateId}` }
    } catch (error) {
      const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
      const called = [code, name].find((one) => typeof one === 'string' && /^[\w.]{1,80}$/.test(one)) as
        | string
        | undefined
      return {
        kind: outcomes.get(called ?? '') ?? 'unknown',
        why: `sending ended with ${called ?? 'an error'}`,
      }
    }
  }

  /** The client is the program's own. */
  async close(): Promise<void> {}
}
