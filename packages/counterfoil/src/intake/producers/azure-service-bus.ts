import { readJson } from '../../domain/index.ts'
import { authorization, checkCredential } from '../credential.ts'
import { instantOf, memberOf, textOf } from '../members.ts'
import type { Delivery, OfflineKind } from '../producer.ts'
import { secretsOf } from '../signature.ts'

export interface AzureServiceBusOptions {
  /** Bearer tokens of whoever forwards the messages. */
  readonly tokens: string | readonly string[]
  /** The queue or subscription. */
  readonly entity: string
}

/**
 * Azure Service Bus messages that a function or logic app forwards over HTTP, in the form of its REST interface:
 * the body is the message, and `BrokerProperties` holds what the broker knows of it.
 *
 * @throws CounterfoilError `config_invalid` without a token or an entity
 */
export function azureServiceBus(options: AzureServiceBusOptions): OfflineKind {
  const tokens = secretsOf('Service Bus', options.tokens, 'token')
  const [entity = ''] = secretsOf('Service Bus', options.entity, 'entity')
  return {
    kind: 'azure-service-bus',
    contentTypes: ['application/json'],
    provenance: 'unsigned',
    volatile: [],
    // The usual time to live of a message.
    retryHorizon: '14d',
    maxBytes: 1_048_576,
    about: {
      signed: 'nothing: a bearer token of the forwarder',
      freshness: 'none',
      identity: '`MessageId` in the header `BrokerProperties`, within the entity',
      identitySigned: false,
      type: '`Label` in the header `BrokerProperties`',
      version: null,
      retries: 'by the forwarder and the delivery count of the entity',
      ordering: 'only within a session',
      handshake: null,
      expects: '2xx; the forwarder then completes the message',
      sources: ['https://learn.microsoft.com/rest/api/servicebus/message-headers-and-properties'],
    },
    verify: (delivery) => checkCredential(authorization(delivery, 'Bearer'), 'Authorization: Bearer', tokens),
    facts(_, delivery) {
      const properties = brokerProperties(delivery)
      return {
        id: textOf(memberOf(properties, 'MessageId')),
        source: entity,
        type: textOf(memberOf(properties, 'Label')),
        version: null,
        at: instantOf(memberOf(properties, 'EnqueuedTimeUtc')),
      }
    },
    data: (payload) => payload,
  }
}

function brokerProperties(delivery: Delivery) {
  const header = delivery.header('brokerproperties') ?? ''
  const reading = readJson(Buffer.from(header, 'latin1'), { numbers: 'lossless' })
  return reading.kind === 'read' ? reading.value : undefined
}
