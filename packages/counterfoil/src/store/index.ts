export { type KeyRing, loadKeyRing } from './key-ring.ts'
export type * from './records.ts'
export type * from './store.ts'
export { Vault } from './vault.ts'
