export { type KeyRing, loadKeyRing } from './key-ring.ts'
export * from './records.ts'
export type * from './store.ts'
export { Vault } from './vault.ts'
