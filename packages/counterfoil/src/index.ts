/** Counterfoil: durable receipts, an effect ledger, and time-outs kept as unknown until evidence comes. */

export {
  type AlertOptions,
  type Counterfoil,
  type CounterfoilOptions,
  counterfoil,
  type OperatorOptions,
} from './counterfoil.ts'
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
  type OwnerRule,
  type Random,
  type ReceivedEvent,
} from './domain/index.ts'
export {
  type AlertDelivery,
  type AlertNotice,
  alertTo,
  type DeclareEffect,
  type PlanContext,
  type Trigger,
  trigger,
} from './engine/index.ts'
export {
  type EventType,
  type InternalEvent,
  type InternalOptions,
  type InternalProducer,
  internal,
  type OutgoingEvent,
  type Producer,
  type ProducerOptions,
  producer,
  type Upcast,
} from './intake/index.ts'
export {
  type AskContext,
  type CallContext,
  type CallOptions,
  type CallReading,
  type CallResult,
  type EffectDefinition,
  type HttpOptions,
  type LookupReading,
  type Network,
  NotSent,
  type PublishedContractOptions,
  publishedContract,
  type Recipient,
  type RecipientOptions,
  recipient,
  type TombstoneReading,
} from './recipients/index.ts'
export type {
  Accepted,
  Alert,
  PlanTransaction,
  SqlExecutor,
  SqlValue,
  Store,
  Transactions,
} from './store/index.ts'
