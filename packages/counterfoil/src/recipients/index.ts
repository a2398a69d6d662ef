export type { BodyReference } from './body-reference.ts'
export { type BodyStore, fileBodies } from './body-store.ts'
export {
  type AskContext,
  type CallContext,
  type CallReading,
  type CallResult,
  type LookupReading,
  NotSent,
  type TombstoneReading,
} from './call-recipient.ts'
export type { EffectRequest, HeadersAbout, HttpRecipient } from './http-recipient.ts'
export type { LimitOptions } from './limits.ts'
export type { Network, NetworkRequest, StreamedBody } from './network.ts'
export {
  type FencedContract,
  type PublishedContractOptions,
  publishedContract,
} from './published-contract.ts'
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
export { isSource, type RecipientSource } from './recipient-source.ts'
export { tracedNetwork } from './traced-network.ts'
export { type UndiciNetworkOptions, undiciNetwork } from './undici-network.ts'
