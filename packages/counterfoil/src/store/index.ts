export type * from './records.ts'
export type * from './store.ts'
export { type KeyRing, loadKeyRing } from './key-ring.ts'
export { Vault } from './vault.ts'
