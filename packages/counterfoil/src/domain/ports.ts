import type { Instant } from './ids.ts'

/** The only source of time. The simulator puts a virtual one in its place. */
export interface Clock {
  now(): Instant
  /** Calls back after at least `ms`; returns a cancel function. */
  after(ms: number, callback: () => void): () => void
}

/** The only source of randomness: ids, nonces and jitter. */
export interface Random {
  bytes(count: number): Uint8Array
  /** At least 0, less than 1. */
  fraction(): number
}

/** One structured line. Never given a payload, a header value or a secret. */
export type Log = (
  level: 'info' | 'warn' | 'error',
  message: string,
  fields?: Readonly<Record<string, unknown>>,
) => void
