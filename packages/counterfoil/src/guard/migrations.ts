import { hash } from 'node:crypto'
import { CounterfoilError } from '../domain/index.ts'

/** One step of the guard's own schema. `{prefix}` stands for the prefix of its tables. */
export interface Migration {
  readonly name: string
  readonly sql: string
}

export interface Applied {
  readonly version: number
  readonly checksum: string
}

export interface Pending {
  readonly version: number
  readonly name: string
  readonly checksum: string
  /** With the prefix in place. */
  readonly sql: string
}

/**
 * What has to run, after what already ran is the same as here.
 *
 * @throws CounterfoilError `store_schema_newer`, `store_migration_changed`
 */
export function pending(known: readonly Migration[], applied: readonly Applied[], prefix: string): Pending[] {
  const all = known.map(({ name, sql }, index) => ({
    version: index + 1,
    name,
    checksum: hash('sha256', sql),
    sql: sql.replaceAll('{prefix}', prefix),
  }))
  if (applied.length > all.length) {
    throw new CounterfoilError(
      'store_schema_newer',
      `The guard's tables are at schema ${applied.length}; this version of Counterfoil knows ${all.length}.`,
      { hint: 'Run the newer version of Counterfoil that made them. Nothing was changed.' },
    )
  }
  for (const { version, checksum } of applied) {
    const same = all[version - 1]
    if (same?.checksum === checksum) continue
    throw new CounterfoilError(
      'store_migration_changed',
      `Migration ${version} of the guard's tables is not the one that this version has.`,
      { hint: 'Restore the version of Counterfoil that ran it; a change goes into a new migration.' },
    )
  }
  return all.slice(applied.length)
}

/** @throws CounterfoilError `config_invalid` for what cannot stand in SQL as it is */
export function checkPrefix(prefix: string): string {
  if (/^[a-z][a-z0-9_]{0,39}$/.test(prefix)) return prefix
  throw new CounterfoilError('config_invalid', `'${prefix}' cannot begin the names of tables.`, {
    hint: 'Use up to 40 lower-case letters, digits and underscores, such as guard_.',
  })
}
