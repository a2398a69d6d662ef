import type { Plan, SqlValue } from '../store.ts'
import type { Failure } from './failure.ts'

/** What the two threads say to each other. Calls travel in batches: one message, one transaction, one reply. */

export interface WorkerOptions {
  readonly path: string
  readonly busyTimeoutMs: number
  /** Only the tests that show what less would lose use another than `full`. */
  readonly synchronous: 'full' | 'normal' | 'off'
}

/** A method of the port with its argument; that of `accept` is a `PackedAcceptance`, that of `acceptAll` several. */
export type Call = readonly [method: string, argument: unknown]

export interface Batch {
  readonly calls: readonly Call[]
  /** The bytes of all acceptances of this batch. */
  readonly block: Uint8Array
}

export type Result = { readonly ok: unknown } | { readonly failed: Failure }

export interface Statement {
  readonly kind: 'run' | 'get' | 'all'
  readonly sql: string
  readonly parameters: readonly SqlValue[]
}

/** About the plan session that a `begin` with this id opened. */
export type SessionOrder =
  | { readonly do: 'statement'; readonly session: number; readonly statement: Statement }
  | { readonly do: 'commit'; readonly session: number; readonly plan: Plan }
  | { readonly do: 'rollback'; readonly session: number }

export type Order =
  | { readonly do: 'open'; readonly migrate: boolean }
  | { readonly do: 'mark'; readonly key: Uint8Array | null }
  | { readonly do: 'begin'; readonly timeoutMs: number }
  | { readonly do: 'close' }
  | SessionOrder

export type ToWorker =
  | { readonly id: number; readonly batch: Batch }
  | { readonly id: number; readonly order: Order }

export interface BatchReply {
  readonly id: number
  readonly results: readonly Result[]
  /** The memory of the batch's block, to be used again. */
  readonly block: ArrayBuffer
}

export type FromWorker = { readonly id: number; readonly result: Result } | BatchReply
