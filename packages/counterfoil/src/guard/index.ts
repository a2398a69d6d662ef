/** The recipient side: first answers kept with the work, fences and tombstones, for services you own. */

export type { Answer, StoredAnswer } from './answer.ts'
export { toResponse } from './answer.ts'
export type { Call, HeaderNames } from './call.ts'
export { contractPath } from './contract.ts'
export { type Guard, type Guarded, guard, type Handler, type Inside } from './guard.ts'
export type { KeyRecord, KeyState } from './record.ts'
export type { CallerRequest, GuardOptions } from './settings.ts'
export { type SqliteGuardOptions, sqliteGuardStore } from './sqlite/store.ts'
export type { Given, GuardStore, InMode, Mode } from './store.ts'
