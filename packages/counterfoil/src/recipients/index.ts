export {
  type AskContext,
  type CallContext,
  type CallReading,
  type CallResult,
  type LookupReading,
  NotSent,
  type TombstoneReading,
} from './call-recipient.ts'
export type { EffectRequest, HttpRecipient } from './http-recipient.ts'
export type { LimitOptions } from './limits.ts'
export type { Network, NetworkRequest } from './network.ts'
export { type PublishedContractOptions, publishedContract } from './published-contract.ts'
export { ask, close, type EffectAddress, encode, placeOf, prepare } from './reach.ts'
export {
  type CallOptions,
  closeRecipients,
  type EffectDefinition,
  type HttpOptions,
  type Recipient,
  type RecipientOptions,
  recipient,
} from './recipient.ts'
export { tracedNetwork } from './traced-network.ts'
export { type UndiciNetworkOptions, undiciNetwork } from './undici-network.ts'
