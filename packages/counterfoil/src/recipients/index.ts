export {
  attempt,
  decodeRequest,
  type EffectRequest,
  encodeRequest,
  type HttpRecipient,
  lookup,
} from './http-recipient.ts'
export type { Network, NetworkRequest } from './network.ts'
export { type EffectDefinition, type Recipient, type RecipientOptions, recipient } from './recipient.ts'
export { undiciNetwork } from './undici-network.ts'
