import { CounterfoilError } from '../../domain/index.ts'
import type { Store } from '../store.ts'
import { parseHosts } from './hosts.ts'
import { PostgresStore } from './store.ts'
import type { StoreClock } from './time.ts'

/** Settings of the store on PostgreSQL. */
export interface PostgresOptions {
  /** Where our tables are; made by the migration. Default `counterfoil`. */
  readonly schema?: string
  /** Connections for statements. Default 8. */
  readonly maxConnections?: number
  /** Connections for triggers that run statements of their own: as many of them plan at once. Default 4. */
  readonly maxSessions?: number
  /** Batches of one kind on their way at once. Default 2. */
  readonly lanes?: number
  /** Default 5000. */
  readonly connectTimeoutMs?: number
  /** After that the server ends a statement. Default 10000. */
  readonly statementTimeoutMs?: number
  /** How long a statement waits for another transaction's rows. Default 5000. */
  readonly lockTimeoutMs?: number
  /**
   * `transaction`: the URL is a pooler's that lends a server for one transaction (PgBouncer): nothing is
   * prepared or set on it, and time limits are those of the role. Default `none`.
   */
  readonly pooler?: 'none' | 'transaction'
  /** Where hints are listened for; behind a pooler, the server's own URL. Default: the store's URL. */
  readonly listenUrl?: string
  /** The role that triggers' statements run as. It has no rights on our tables beyond reading. */
  readonly triggerRole?: string
  /** Whose clock leases go by. `caller` is for tests with virtual time. Default `database`. */
  readonly clock?: StoreClock
}

/**
 * The store for many workers on many machines: PostgreSQL 15 or newer, through the driver `pg`.
 *
 * @param url `postgres://user@host:5432/database`; of several hosts, comma-separated, the one that takes writes is used
 * @throws CounterfoilError `config_invalid`
 *
 * @example
 * const store = postgres('postgres://counterfoil@db-1,db-2/app')
 * await store.open({ migrate: true })
 */
export function postgres(url: string, options: PostgresOptions = {}): Store {
  const { schema = 'counterfoil', triggerRole = null } = options
  const hosts = parseHosts(url)
  for (const [what, name] of [
    ['schema', schema],
    ['triggerRole', triggerRole],
  ] as const) {
    if (name !== null && !/^[A-Za-z_][A-Za-z0-9_]{0,50}$/.test(name)) {
      throw new CounterfoilError('config_invalid', `${what} '${name}' is not a plain name.`, {
        hint: 'Letters, digits and underscores, 51 at most.',
      })
    }
  }
  return new PostgresStore({
    hosts,
    listenUrls: options.listenUrl === undefined ? hosts.urls : parseHosts(options.listenUrl).urls,
    schema,
    triggerRole,
    clock: options.clock ?? 'database',
    pooler: options.pooler ?? 'none',
    maxConnections: within('maxConnections', options.maxConnections ?? 8, 1, 1_000),
    maxSessions: within('maxSessions', options.maxSessions ?? 4, 1, 1_000),
    lanes: within('lanes', options.lanes ?? 2, 1, 16),
    connectTimeoutMs: within('connectTimeoutMs', options.connectTimeoutMs ?? 5_000, 1, 600_000),
    statementTimeoutMs: within('statementTimeoutMs', options.statementTimeoutMs ?? 10_000, 100, 600_000),
    lockTimeoutMs: within('lockTimeoutMs', options.lockTimeoutMs ?? 5_000, 10, 600_000),
  })
}

function within(name: string, value: number, least: number, most: number): number {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value
  throw new CounterfoilError(
    'config_invalid',
    `${name} is ${value}; it is a whole number from ${least} to ${most}.`,
  )
}

export type { StoreClock }
