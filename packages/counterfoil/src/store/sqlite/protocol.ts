import type { SqlValue } from '../store.ts'
import type { Failure } from './failure.ts'

/** What the two threads say to each other. Calls travel in batches: one message, one transaction, one reply. */

export interface WorkerOptions {
  readonly path: string
  readonly busyTimeoutMs: number
  /** Only the tests that show what less would lose use another than `full`. */
  readonly synchronous: 'full' | 'normal' | 'off'
}

export type Call = readonly [method: string, argument: unknown]
export type Result = { readonly ok: unknown } | { readonly failed: Failure }

export type Statement = {
  readonly kind: 'run' | 'get' | 'all'
  readonly sql: string
  readonly parameters: readonly SqlValue[]
}

export type ToWorker =
  | { readonly id: number; readonly do: 'open'; readonly migrate: boolean }
  | { readonly id: number; readonly do: 'batch'; readonly calls: readonly Call[] }
  | { readonly id: number; readonly do: 'begin'; readonly timeoutMs: number }
  | { readonly id: number; readonly do: 'statement'; readonly session: number; readonly statement: Statement }
  | { readonly id: number; readonly do: 'commit'; readonly session: number; readonly plan: unknown }
  | { readonly id: number; readonly do: 'rollback'; readonly session: number }
  | { readonly id: number; readonly do: 'close' }

export type FromWorker =
  | { readonly id: number; readonly result: Result }
  | { readonly id: number; readonly results: readonly Result[] }
