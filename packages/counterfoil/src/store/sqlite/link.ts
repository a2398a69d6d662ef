import { CounterfoilError } from '../../domain/index.ts'
import { Marking } from '../marking.ts'
import type { MigrationReport } from '../store.ts'
import { type Connection, prepare } from './connection.ts'
import { configure, openFile } from './database.ts'
import { breaksConnection, failureOf, toError } from './failure.ts'
import { migrate } from './migrate.ts'
import type { WorkerOptions } from './protocol.ts'

const firstWaitMs = 50
const lastWaitMs = 5_000

/** The one connection of the thread: opens it, runs transactions on it, and gives it up when the disk failed under it. */
export class Link {
  readonly options: WorkerOptions
  #connection: Connection | undefined
  #marking: Marking | undefined
  /** The disk failed under the last connection. */
  #broken = false
  #waitMs = firstWaitMs
  #nextTryAt = 0

  constructor(options: WorkerOptions) {
    this.options = options
  }

  open(mayMigrate: boolean): MigrationReport {
    this.close()
    const db = openFile(this.options, mayMigrate)
    try {
      const report = migrate(db, this.options, mayMigrate)
      this.#connection = prepare(db, this.#marking)
      return report
    } catch (error) {
      db.close()
      throw error
    }
  }

  /** @param key that markers are made under, for this connection and those after it; null: none was given */
  mark(key: Uint8Array | null): void {
    this.#marking = key === null ? undefined : new Marking(key)
    this.connected().markers.marking = this.#marking
  }

  /** Takes a connection that is open already; there is no file to open again. */
  adopt(connection: Connection): void {
    this.#connection = connection
  }

  close(): void {
    const connection = this.#connection
    this.#connection = undefined
    connection?.db.close()
  }

  /** False too when the connection was given up, or SQLite itself has ended the transaction. */
  get inTransaction(): boolean {
    return this.#connection?.db.isTransaction ?? false
  }

  connected(): Connection {
    this.#connection ??= this.#reconnect()
    return this.#connection
  }

  /** @throws CounterfoilError for what the store as a whole could not do, anything else as it was thrown by `work` */
  transaction<Value>(readsOnly: boolean, work: (open: Connection) => Value): Value {
    this.begin(readsOnly)
    const open = this.connected()
    let value: Value
    try {
      value = work(open)
    } catch (error) {
      this.rollback()
      throw this.told(error)
    }
    this.commit(readsOnly)
    return value
  }

  /** @throws CounterfoilError */
  begin(readsOnly: boolean): void {
    try {
      this.connected().transaction[readsOnly ? 'read' : 'write'].run()
    } catch (error) {
      throw this.told(error)
    }
  }

  /** @throws CounterfoilError `commit_unknown` when the disk failed, other codes when nothing was written */
  commit(readsOnly = false): void {
    const { transaction, counts } = this.connected()
    try {
      if (!readsOnly) counts.write()
      transaction.commit.run()
      this.#waitMs = firstWaitMs
    } catch (error) {
      const told = this.told(error, 'commit')
      this.rollback()
      throw told
    }
  }

  rollback(): void {
    const open = this.#connection
    if (open === undefined) return
    open.counts.forget()
    try {
      if (open.db.isTransaction) open.db.exec('rollback')
    } catch (error) {
      this.told(error)
      this.#giveUp()
    }
  }

  /** Our words for an error; gives the connection up when it is not to be trusted any more. */
  told(error: unknown, during: 'work' | 'commit' | 'statement' = 'work'): unknown {
    const failure = failureOf(error, this.options.path, during)
    if (breaksConnection(error)) {
      this.#broken = true
      this.#giveUp()
    }
    return failure.code === 'internal' ? error : toError(failure)
  }

  #giveUp(): void {
    try {
      this.close()
    } catch {
      // A connection that cannot be closed cleanly is given up all the same.
    }
    this.#nextTryAt = performance.now() + this.#waitMs
    this.#waitMs = Math.min(this.#waitMs * 2, lastWaitMs)
  }

  #reconnect(): Connection {
    if (performance.now() < this.#nextTryAt) {
      throw new CounterfoilError(
        'store_unavailable',
        `The store ${this.options.path} failed and is opened again soon.`,
        {
          hint: 'Look at the system log for disk errors.',
        },
      )
    }
    const db = openFile(this.options, false)
    try {
      configure(db, this.options)
      if (this.#broken) settleLog(db, this.options.path)
      this.#broken = false
      return prepare(db, this.#marking)
    } catch (error) {
      db.close()
      this.#giveUp()
      throw error
    }
  }
}

/**
 * After a failed sync the system may take pages for written that are not (the kernel tells an error once). So
 * nothing new is put behind them: what recovery found is moved into the file, synced, and the log begins anew.
 */
function settleLog(db: Connection['db'], path: string): void {
  const { busy } = db.prepare('pragma wal_checkpoint(truncate)').get() as { busy: number }
  if (busy !== 0) {
    throw new CounterfoilError(
      'store_busy',
      `The store ${path} recovers from a disk failure, and another process reads its log.`,
    )
  }
}
