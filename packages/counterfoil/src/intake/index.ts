export { problem } from './answers.ts'
export { type Arrival, fromIncoming, fromRequest } from './arrival.ts'
export { type Opened, readEvent } from './event.ts'
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
export { createReceive, type HandOff, type Intake, type IntakePorts } from './receive.ts'
