import type { DatabaseSync } from 'node:sqlite'
import { type Applied, checkApplied, migrationsIn, schemaOlder } from '../migrations.ts'
import type { MigrationReport } from '../store.ts'
import { applicationId, configure } from './database.ts'
import type { WorkerOptions } from './protocol.ts'

const directory = new URL('./migrations/', import.meta.url)

/**
 * Brings the schema up, or only checks it. Holds the write lock from the first look to the last statement, so
 * two processes that start at once do not both migrate.
 *
 * @throws CounterfoilError `store_schema_newer`, `store_schema_older`, `store_migration_changed`
 */
export function migrate(db: DatabaseSync, options: WorkerOptions, allowed: boolean): MigrationReport {
  const { path } = options
  const known = migrationsIn(directory)
  const before = applied(db)
  checkApplied(before, known, path)
  if (before.length < known.length && !allowed) throw schemaOlder(path, before.length, known.length)
  // Only now is the file known to be one that may be changed.
  configure(db, options)
  if (before.length === known.length) return { from: before.length, to: before.length, applied: [] }
  return bringUp(db, path)
}

/** Applies what is missing, in one transaction. */
export function bringUp(db: DatabaseSync, path: string): MigrationReport {
  const known = migrationsIn(directory)
  db.exec('begin immediate')
  try {
    db.exec(
      'create table if not exists counterfoil_migration (version integer primary key, name text not null, checksum text not null, applied_at integer not null) strict',
    )
    const done = applied(db)
    checkApplied(done, known, path)
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

function applied(db: DatabaseSync): Applied[] {
  const exists = db
    .prepare("select 1 from sqlite_schema where type = 'table' and name = 'counterfoil_migration'")
    .get()
  if (exists === undefined) return []
  return db
    .prepare('select name, checksum from counterfoil_migration order by version')
    .all() as unknown as Applied[]
}
