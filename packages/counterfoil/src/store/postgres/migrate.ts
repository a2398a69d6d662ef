import { type Applied, checkApplied, migrationsIn, schemaOlder } from '../migrations.ts'
import type { MigrationReport } from '../store.ts'
import type { Connection } from './connection.ts'
import { quoted, type Statement } from './statement.ts'

const directory = new URL('./migrations/', import.meta.url)

/**
 * Brings the schema up, or only checks it. One transaction under an advisory lock, so two processes that start
 * at once do not both migrate, and workers see the old schema or the new one.
 *
 * @throws CounterfoilError `store_schema_newer`, `store_schema_older`, `store_migration_changed`; what the server told
 */
export async function migrate(
  connection: Connection,
  schema: string,
  location: string,
  allowed: boolean,
): Promise<MigrationReport> {
  const known = migrationsIn(directory)
  const before = await applied(connection, schema)
  checkApplied(before, known, location)
  if (before.length === known.length) return { from: before.length, to: before.length, applied: [] }
  if (!allowed) throw schemaOlder(location, before.length, known.length)
  const s = quoted(schema)
  await connection.script(
    `begin; select pg_advisory_xact_lock(hashtextextended('counterfoil migration ${schema}', 0))`,
  )
  try {
    const done = await applied(connection, schema)
    checkApplied(done, known, location)
    // Asked first: who may use a schema that another made may not be allowed to make one.
    const [found] = await connection.run(schemaExists, [schema])
    if (!found!.exists) await connection.script(`create schema ${s}`)
    await connection.script(`set local search_path to ${s};
      create table if not exists migration (version int primary key, name text not null, checksum text not null,
        applied_at timestamptz not null default now())`)
    const missing = known.slice(done.length)
    for (const { version, name, sql, checksum } of missing) {
      await connection.script(sql)
      await connection.run(record(s), [version, name, checksum])
    }
    await connection.script('commit')
    return { from: done.length, to: known.length, applied: missing.map(({ name }) => name) }
  } catch (error) {
    if (!connection.isLost) await connection.script('rollback')
    throw error
  }
}

async function applied(connection: Connection, schema: string): Promise<Applied[]> {
  const [found] = await connection.run(migrationTable, [schema])
  if (!found!.exists) return []
  return (await connection.run(list(quoted(schema)), [])) as Applied[]
}

const schemaExists: Statement = {
  name: 'counterfoil_schema_exists',
  writes: false,
  text: 'select exists (select 1 from pg_namespace where nspname = $1::text) as exists',
}
/** Reads the catalogue itself: to_regclass may answer from a cache that is older than the lock we waited for. */
const migrationTable: Statement = {
  name: 'counterfoil_migration_table',
  writes: false,
  text: `select exists (select 1 from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = $1::text and c.relname = 'migration') as exists`,
}
const list = (s: string): Statement => ({
  name: 'counterfoil_migrations',
  writes: false,
  text: `select name, checksum from ${s}.migration order by version`,
})
const record = (s: string): Statement => ({
  name: 'counterfoil_record_migration',
  writes: true,
  text: `insert into ${s}.migration (version, name, checksum) values ($1::int, $2::text, $3::text)`,
})
