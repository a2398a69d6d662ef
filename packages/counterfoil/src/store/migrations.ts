import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { CounterfoilError } from '../domain/index.ts'

export interface Migration {
  /** Counted from 1, without a gap. */
  readonly version: number
  readonly name: string
  readonly sql: string
  /** SHA-256 of the file, in hexadecimal. */
  readonly checksum: string
}

/** A migration that a store has been through. */
export type Applied = Pick<Migration, 'name' | 'checksum'>

/** Numbered files of a directory, in order. */
export function migrationsIn(directory: URL): Migration[] {
  return readdirSync(directory)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((name, index) => {
      const sql = readFileSync(new URL(name, directory), 'utf8')
      return { version: index + 1, name, sql, checksum: hash('sha256', sql) }
    })
}

/**
 * What was done to a store is the beginning of what this version knows.
 *
 * @throws CounterfoilError `store_schema_newer`, `store_migration_changed`
 */
export function checkApplied(done: readonly Applied[], known: readonly Migration[], location: string): void {
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

export function schemaOlder(location: string, is: number, needed: number): CounterfoilError {
  return new CounterfoilError(
    'store_schema_older',
    `The store ${location} is at schema ${is}, and this version needs ${needed}.`,
    { hint: 'Run: counterfoil migrate' },
  )
}
