import type { Duration } from '../domain/index.ts'
import { type LimitOptions, type Recipient, recipient } from '../recipients/index.ts'
import { type OutgoingMessage, type StoredMessage, toMessage, toStored } from './message.ts'
import type { Published, Publisher } from './publisher.ts'

/** What every transport can be told, whichever broker it leads to. */
export interface TransportOptions<InTurn extends boolean = boolean> {
  /** CloudEvents `source` of all that is sent: with the id it tells an event apart from every other. */
  readonly source: string
  /**
   * How long consumers remember the ids that they have worked on. So long a message may be sent again, with the same
   * id and bytes, when it is not known whether the broker has it. `nothing`: they do not deduplicate, and only what
   * the broker itself drops is safe to send again. Default `forever`.
   */
  readonly consumersRemember?: Duration | 'forever' | 'nothing'
  /** Effects may claim an order: each waits until the earlier ones of its ordering domain are final. Default false. */
  readonly inTurn?: InTurn
  /** From the call to the broker's confirmation. Default `10s`. */
  readonly timeout?: Duration
  /** Messages in flight at once from one process. Default 64. */
  readonly concurrency?: number
  readonly limits?: LimitOptions
}

interface MessageContract {
  readonly idempotency?: {
    readonly pointer: '/id'
    readonly remembersFor: Duration | 'forever'
    readonly otherPayload: 'unstated'
    readonly replays: 'first-success'
  }
}

/** A transport as a recipient: its effects are messages. */
export type Transport<InTurn extends boolean = boolean> = Recipient<
  InTurn extends true ? MessageContract & { readonly ordering: { readonly inTurn: true } } : MessageContract,
  OutgoingMessage
>

/**
 * A broker as the far side of effects: to carry one out is to publish its message, and the idempotency key is the
 * `id` of the CloudEvent. So what holds for effects holds for messages: ledger, unknown, evidence, retention.
 *
 * @param name names the recipient in the ledger for ever
 * @param brokerRemembers how long the broker itself drops a second message of the same id; null where it does not
 * @throws CounterfoilError `contract_invalid`, `config_invalid`
 */
export function transport<const InTurn extends boolean = false>(
  name: string,
  publisher: Publisher,
  options: TransportOptions<InTurn>,
  brokerRemembers: Duration | null = null,
): Transport<InTurn> {
  const { source, consumersRemember = 'forever', inTurn = false, timeout = '10s', concurrency = 64 } = options
  const remembersFor = consumersRemember === 'nothing' ? brokerRemembers : consumersRemember
  const self = recipient(name, {
    contract: {
      ...(remembersFor === null
        ? {}
        : {
            idempotency: {
              pointer: '/id',
              remembersFor,
              otherPayload: 'unstated',
              replays: 'first-success',
            } as const,
          }),
      ...(inTurn ? { ordering: { inTurn: true as const } } : {}),
    },
    timeout,
    concurrency,
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    call: async (stored: StoredMessage, { idempotencyKey, order, signal, deadline }) =>
      await publisher.publish(toMessage(stored, idempotencyKey, order as never), { signal, deadline }),
    classify: (result) =>
      'answer' in result ? readingOf(publisher.broker, result.answer as Published) : undefined,
    close: () => publisher.close(),
  })
  const define = self.effect
  const effect: Transport['effect'] = (effectName, about) =>
    define(effectName, { ...about, request: (payload) => toStored(about.request(payload), source) }) as never
  return Object.assign(self, { effect }) as unknown as Transport<InTurn>
}

function readingOf(broker: string, published: Published) {
  if (published.kind !== 'confirmed') return published
  const { position, duplicate = false } = published
  const why = duplicate
    ? `${broker} has it from an earlier attempt, at ${position}`
    : `${broker} has it, at ${position}`
  return { kind: 'confirmed', why, correlation: position } as const
}
