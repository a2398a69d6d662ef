export type * from './backfills.ts'
export { figureOfReason } from './backfills.ts'

export { attempting, begunAttempt } from './begun.ts'

export { type KeyRing, loadKeyRing } from './key-ring.ts'
export * from './records.ts'
export type * from './sql-executor.ts'
export { isSqlState } from './sql-state.ts'
export type * from './store.ts'
export type * from './transactions.ts'
export { Vault } from './vault.ts'
