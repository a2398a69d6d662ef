/** Counterfoil: durable receipts, an effect ledger, and time-outs kept as unknown until evidence comes. */

export { type Counterfoil, type CounterfoilOptions, counterfoil } from './counterfoil.ts'
export {
  type Clock,
  type Contract,
  CounterfoilError,
  type Duration,
  type ErrorCode,
  errorCodes,
  type Idempotency,
  type Log,
  type Lookup,
  type LookupRule,
  type Ordering,
  type OutcomeRule,
  type Random,
  type ReceivedEvent,
} from './domain/index.ts'
export { type DeclareEffect, type PlanContext, type Trigger, trigger } from './engine/index.ts'
export { type EventType, type Producer, type ProducerOptions, producer } from './intake/index.ts'
export {
  type EffectDefinition,
  type Network,
  type Recipient,
  type RecipientOptions,
  recipient,
  type UndiciNetworkOptions,
  undiciNetwork,
} from './recipients/index.ts'
export type { Alert, PlanTransaction, Store } from './store/index.ts'
