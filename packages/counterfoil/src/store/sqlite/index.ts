import { resolve } from 'node:path'
import type { Store } from '../store.ts'
import { SqliteStore } from './store.ts'

export interface SqliteOptions {
  /** How long a commit waits for another process's transaction. Default 5000. */
  readonly busyTimeoutMs?: number
}

/**
 * The embedded store: one SQLite file, in WAL mode and synced at each commit, written by a thread of its own
 * that commits what waits together. Several processes of one machine may use the file.
 *
 * @param path the file; it is made when it does not exist, its directory is not
 */
export function sqlite(path: string, options: SqliteOptions = {}): Store {
  return new SqliteStore({
    path: resolve(path),
    busyTimeoutMs: options.busyTimeoutMs ?? 5_000,
    synchronous: 'full',
  })
}
