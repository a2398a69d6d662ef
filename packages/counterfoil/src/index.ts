/** Counterfoil: durable receipts, an effect ledger, and time-outs kept as unknown until evidence comes. */

export { type Counterfoil, type CounterfoilOptions, counterfoil } from './counterfoil.ts'
export type { Contract, Idempotency, Lookup, LookupRule, Ordering, OutcomeRule } from './domain/contract.ts'
export type { Duration } from './domain/duration.ts'
export { CounterfoilError, type ErrorCode, errorCodes } from './domain/errors.ts'
export type { ReceivedEvent } from './domain/event.ts'
export type { Clock, Log, Random } from './domain/ports.ts'
export { type DeclareEffect, type PlanContext, type Trigger, trigger } from './engine/index.ts'
export { type EventType, type Producer, type ProducerOptions, producer } from './intake/index.ts'
export {
  type EffectDefinition,
  type Network,
  type Recipient,
  type RecipientOptions,
  recipient,
} from './recipients/index.ts'
export type { Alert, PlanTransaction, Store } from './store/index.ts'
