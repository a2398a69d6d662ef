import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { CounterfoilError } from '../../domain/index.ts'
import type { WorkerOptions } from './protocol.ts'

/** "Cfoi": marks a file as a store of ours (sqlite.org/fileformat2.html#application_id). */
export const applicationId = 0x43_66_6f_69

/** Pages of the WAL, 4 MB, before they are moved into the file. Fewer cost throughput, more cost a longer pause. */
const checkpointPages = 1_000

/**
 * Opens the file without changing it, and refuses one that is not ours to change.
 *
 * @throws CounterfoilError `store_corrupt` for another application's file, `store_unavailable` when it is not there
 */
export function openFile({ path, busyTimeoutMs }: WorkerOptions, create: boolean): DatabaseSync {
  if (!create && !existsSync(path)) {
    throw new CounterfoilError('store_unavailable', `There is no store at ${path}.`, {
      hint: 'Check the path, or make it with: counterfoil migrate',
    })
  }
  const db = new DatabaseSync(path, { timeout: busyTimeoutMs })
  try {
    const { application_id: owner } = db.prepare('pragma application_id').get() as { application_id: number }
    if (owner !== 0 && owner !== applicationId) {
      throw new CounterfoilError(
        'store_corrupt',
        `The file ${path} belongs to another application (application id ${owner}).`,
        {
          hint: 'Give the store a file of its own, or one whose application_id is 0. Nothing was changed.',
        },
      )
    }
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** WAL; a commit is on the disk before it is told (`synchronous = full`); waits for other processes' transactions. */
export function configure(db: DatabaseSync, { path, synchronous }: WorkerOptions): void {
  const { journal_mode: mode } = db.prepare('pragma journal_mode = wal').get() as { journal_mode: string }
  if (mode !== 'wal') {
    throw new CounterfoilError(
      'store_unavailable',
      `The store ${path} cannot use a write-ahead log (journal mode ${mode}).`,
      {
        hint: 'Put it on a local disk; network file systems lack what SQLite needs.',
      },
    )
  }
  db.exec(`
    pragma synchronous = ${synchronous};
    pragma fullfsync = on;
    pragma checkpoint_fullfsync = on;
    pragma wal_autocheckpoint = ${checkpointPages};
    pragma foreign_keys = on;
    pragma temp_store = memory;
    pragma cache_size = -32000;
  `)
  // Finds a file that cannot be written now rather than at the first delivery.
  db.exec('begin immediate; rollback')
}
