export { problem } from './answers.ts'
export { type Arrival, fromIncoming, fromNode, fromRequest, type NodeRequest, withBody } from './arrival.ts'
export {
  type BackfillIntake,
  type BackfillItem,
  type BackfillPorts,
  backfillIntake,
  beginning,
  type ListEvents,
  type Place,
  type ReadItem,
  sourceAt,
} from './backfill/index.ts'
export { alreadyRead } from './body-limits.ts'
export { boundedLog } from './bounded-log.ts'
export { type CloudEvent, type CloudEventReading, readCloudEvent } from './cloudevents/cloud-event.ts'
export { binaryMessage, type CloudEventMessage, structuredMessage } from './cloudevents/modes.ts'
export type { Delivery } from './delivery.ts'
export { isSupported, type Opened, readEvent } from './event.ts'
export { gateOf } from './gate.ts'
export {
  type InternalEvent,
  type InternalOptions,
  type InternalProducer,
  internal,
  isInternal,
} from './internal.ts'
export type { Interpreted } from './interpret.ts'
export {
  type EventType,
  type EventTypes,
  eventTypes,
  type Producer,
  type ProducerOptions,
  producer,
} from './producer.ts'
export type { OfflineKind, ProducerKind } from './producer-kind.ts'
export { type OutgoingEvent, type PublishPorts, publish, publishAlone } from './publish.ts'
export { createReceive, type Intake, type IntakePorts } from './receive.ts'
export type { Upcast } from './schema-version.ts'
export type { HandOff } from './take.ts'
