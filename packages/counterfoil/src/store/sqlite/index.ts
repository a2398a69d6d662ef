import { resolve } from 'node:path'
import { CounterfoilError } from '../../domain/index.ts'
import type { Store } from '../store.ts'
import { SqliteStore } from './store.ts'

export { MemoryDatabase, type MemoryDatabaseOptions, type MemoryHandle } from './memory.ts'
export type { SqliteExecutor } from './user-transaction.ts'

/** Settings of the embedded store. */
export interface SqliteOptions {
  /** How long a commit waits for another process's transaction. Default 5000. */
  readonly busyTimeoutMs?: number
}

/**
 * The embedded store: one SQLite file, in WAL mode and synced at each commit, written by a thread of its own
 * that commits what waits together. Several processes of one machine may use the file.
 *
 * @param path the file; it is made when it does not exist, its directory is not
 * @throws CounterfoilError `config_invalid`
 *
 * @example
 * const store = sqlite('counterfoil.db')
 * await store.open({ migrate: true })
 */
export function sqlite(path: string, options: SqliteOptions = {}): Store {
  const { busyTimeoutMs = 5_000 } = options
  if (path === '' || path.startsWith(':')) {
    throw new CounterfoilError(
      'config_invalid',
      `A store cannot be kept in '${path}': it has to be a file.`,
      {
        hint: 'In tests, use a file in a temporary directory.',
      },
    )
  }
  if (!Number.isSafeInteger(busyTimeoutMs) || busyTimeoutMs < 0 || busyTimeoutMs > 600_000) {
    throw new CounterfoilError(
      'config_invalid',
      `busyTimeoutMs is ${busyTimeoutMs}; it is a whole number from 0 to 600000.`,
    )
  }
  return new SqliteStore({ path: resolve(path), busyTimeoutMs, synchronous: 'full' })
}
