import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { CounterfoilError } from '../../domain/index.ts'
import type { MigrationReport } from '../store.ts'
import type { Connection } from './connection.ts'
import { quoted, type Statement } from './statement.ts'

interface Migration {
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
    .map((name) => {
      const sql = readFileSync(new URL(name, directory), 'utf8')
      return { name, sql, checksum: hash('sha256', sql) }
    })
}

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
  const known = migrations()
  const before = await applied(connection, schema)
  check(before, known, location)
  if (before.length === known.length) return { from: before.length, to: before.length, applied: [] }
  if (!allowed) {
    throw new CounterfoilError(
      'store_schema_older',
      `The store ${location} is at schema ${before.length}, and this version needs ${known.length}.`,
      { hint: 'Run: counterfoil migrate' },
    )
  }
  const s = quoted(schema)
  await connection.script(
    `begin; select pg_advisory_xact_lock(hashtextextended('counterfoil migration ${schema}', 0))`,
  )
  try {
    const done = await applied(connection, schema)
    check(done, known, location)
    // Asked first: who may use a schema that another made may not be allowed to make one.
    const [found] = await connection.run(schemaExists, [schema])
    if (!found!.exists) await connection.script(`create schema ${s}`)
    await connection.script(`set local search_path to ${s};
      create table if not exists migration (version int primary key, name text not null, checksum text not null,
        applied_at timestamptz not null default now())`)
    const missing = known.slice(done.length)
    for (const [index, { name, sql, checksum }] of missing.entries()) {
      await connection.script(sql)
      await connection.run(record(s), [done.length + index + 1, name, checksum])
    }
    await connection.script('commit')
    return { from: done.length, to: known.length, applied: missing.map(({ name }) => name) }
  } catch (error) {
    if (!connection.isLost) await connection.script('rollback')
    throw error
  }
}

type Applied = { readonly name: string; readonly checksum: string }

async function applied(connection: Connection, schema: string): Promise<Applied[]> {
  const [found] = await connection.run(migrationTable, [schema])
  if (!found!.exists) return []
  return (await connection.run(list(quoted(schema)), [])) as Applied[]
}

function check(done: readonly Applied[], known: readonly Migration[], location: string): void {
  if (done.length > known.length) {
    throw new CounterfoilError(
      'store_schema_newer',
      `The store ${location} is at schema ${done.length}; this version of Counterfoil knows ${known.length}.`,
      { hint: 'Run the newer version of Counterfoil that wrote it. Nothing was changed.' },
    )
  }
  for (const [index, { name, checksum }] of done.entries()) {
    if (known[index]?.checksum !== checksum) {
      throw new CounterfoilError(
        'store_migration_changed',
        `Migration ${name} of the store ${location} is not the one that this version has.`,
        { hint: 'Restore the migration file as it was published; a change goes into a new one.' },
      )
    }
  }
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
