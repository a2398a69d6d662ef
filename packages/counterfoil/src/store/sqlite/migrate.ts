import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { CounterfoilError } from '../../domain/index.ts'
import type { MigrationReport } from '../store.ts'
import { applicationId, configure } from './database.ts'
import type { WorkerOptions } from './protocol.ts'

interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
  readonly checksum: string
}

/** Numbered files, in order; their numbers have no gap. */
function migrations(): Migration[] {
  const directory = new URL('./migrations/', import.meta.url)
  return readdirSync(directory)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((name, index) => {
      const sql = readFileSync(new URL(name, directory), 'utf8')
      return { version: index + 1, name, sql, checksum: hash('sha256', sql) }
    })
}

/**
 * Brings the schema up, or only checks it. Holds the write lock from the first look to the last statement, so
 * two processes that start at once do not both migrate.
 *
 * @throws CounterfoilError `store_schema_newer`, `store_schema_older`, `store_migration_changed`
 */
export function migrate(db: DatabaseSync, options: WorkerOptions, allowed: boolean): MigrationReport {
  const { path } = options
  const known = migrations()
  const before = applied(db)
  check(before, known, path)
  if (before.length < known.length && !allowed) throw older(path, before.length, known.length)
  // Only now is the file known to be one that may be changed.
  configure(db, options)
  if (before.length === known.length) return { from: before.length, to: before.length, applied: [] }
  db.exec('begin immediate')
  try {
    db.exec(
      'create table if not exists counterfoil_migration (version integer primary key, name text not null, checksum text not null, applied_at integer not null) strict',
    )
    const done = applied(db)
    check(done, known, path)
    const missing = known.slice(done.length)
    const record = db.prepare(
      "insert into counterfoil_migration (version, name, checksum, applied_at) values (?, ?, ?, cast(round(unixepoch('subsec') * 1000) as integer))",
    )
    for (const migration of missing) {
      db.exec(migration.sql)
      record.run(migration.version, migration.name, migration.checksum)
    }
    db.exec(`pragma application_id = ${applicationId}`)
    db.exec('commit')
    return { from: done.length, to: known.length, applied: missing.map(({ name }) => name) }
  } catch (error) {
    if (db.isTransaction) db.exec('rollback')
    throw error
  }
}

type Applied = { readonly version: number; readonly name: string; readonly checksum: string }

function applied(db: DatabaseSync): Applied[] {
  const exists = db
    .prepare("select 1 from sqlite_schema where type = 'table' and name = 'counterfoil_migration'")
    .get()
  if (exists === undefined) return []
  return db
    .prepare('select version, name, checksum from counterfoil_migration order by version')
    .all() as unknown as Applied[]
}

function check(done: readonly Applied[], known: readonly Migration[], path: string): void {
  if (done.length > known.length) {
    throw new CounterfoilError(
      'store_schema_newer',
      `The store ${path} is at schema ${done.length}; this version of Counterfoil knows ${known.length}.`,
      {
        hint: 'Run the newer version of Counterfoil that wrote it. Nothing was changed.',
      },
    )
  }
  for (const [index, { name, checksum }] of done.entries()) {
    if (known[index]?.checksum !== checksum) {
      throw new CounterfoilError(
        'store_migration_changed',
        `Migration ${name} of the store ${path} is not the one that this version has.`,
        {
          hint: 'Restore the migration file as it was published; a change goes into a new one.',
        },
      )
    }
  }
}

function older(path: string, is: number, needed: number): CounterfoilError {
  return new CounterfoilError(
    'store_schema_older',
    `The store ${path} is at schema ${is}, and this version needs ${needed}.`,
    { hint: 'Run: counterfoil migrate' },
  )
}
