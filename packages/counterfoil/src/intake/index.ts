export { problem } from './answers.ts'
export { type Opened, readEvent } from './event.ts'
export {
  type InternalEvent,
  type InternalOptions,
  type InternalProducer,
  internal,
  isInternal,
} from './internal.ts'
export {
  type Delivery,
  type EventFacts,
  type EventType,
  type EventTypes,
  eventTypes,
  type Producer,
  type ProducerKind,
  type ProducerOptions,
  producer,
  type Verification,
} from './producer.ts'
export { type OutgoingEvent, type PublishPorts, publish } from './publish.ts'
export { createReceive, type HandOff, type Intake, type IntakePorts } from './receive.ts'
