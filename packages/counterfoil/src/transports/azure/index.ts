/** Azure Service Bus, through a client that the program has: `counterfoil/azure`. */

import { CounterfoilError, type Duration, milliseconds } from '../../domain/index.ts'
import { type Transport, type TransportOptions, transport } from '../transport.ts'
import { ServiceBusPublisher, type ServiceBusSender } from './publisher.ts'

export type { ServiceBusMessage, ServiceBusSender } from './publisher.ts'

export interface ServiceBusTransportOptions<InTurn extends boolean> extends TransportOptions<InTurn> {
  /** The sender of a queue or topic: `(to) => senders[to]`, each made once by `client.createSender(to)`. */
  readonly sender: (to: string) => ServiceBusSender
  /**
   * The window of duplicate detection, as the queue or topic has it: 20 seconds to 7 days. Null: it has none, and with
   * `consumersRemember: 'nothing'` nothing is ever repeated.
   */
  readonly duplicateWindow: Duration | null
}

/** Service Bus queues and topics as a recipient: `to` is the name of one. @throws CounterfoilError `contract_invalid`, `config_invalid` */
export function serviceBusTransport<const InTurn extends boolean = false>(
  name: string,
  options: ServiceBusTransportOptions<InTurn>,
): Transport<InTurn> {
  const { duplicateWindow, sender } = options
  const windowMs = duplicateWindow === null ? null : milliseconds(duplicateWindow)
  if (windowMs !== null && (windowMs < milliseconds('20s') || windowMs > milliseconds('7d'))) {
    throw new CounterfoilError(
      'config_invalid',
      `Service Bus has no duplicate window of ${duplicateWindow}.`,
      {
        hint: 'State what the queue or topic is set to: 20 seconds to 7 days.',
      },
    )
  }
  return transport(name, new ServiceBusPublisher(sender), options, duplicateWindow)
}
