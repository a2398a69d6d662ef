import type { ConnectionSettings } from './connection.ts'
import type { Hosts } from './hosts.ts'
import type { StoreClock } from './time.ts'

/** What `postgres()` has checked. */
export interface StoreSettings {
  readonly hosts: Hosts
  readonly listenUrls: readonly string[]
  readonly schema: string
  readonly clock: StoreClock
  readonly pooler: 'none' | 'transaction'
  readonly maxConnections: number
  readonly maxSessions: number
  readonly lanes: number
  readonly connectTimeoutMs: number
  readonly statementTimeoutMs: number
  readonly lockTimeoutMs: number
  readonly triggerRole: string | null
}

/** Migrations may take their time. */
const migrationTimeoutMs = 3_600_000

/** What keeps a plan to the indexes, whatever the planner believes of the tables. */
export const steady: Readonly<Record<string, string>> = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
  // Their limit is a parameter, so the planner thinks of many rows and would start workers for a page of fifty.
  max_parallel_workers_per_gather: '0',
}

/**
 * Our statements find every row by an index. The planner is told to keep to that: a plan made while a table was
 * small would otherwise read all of it when it has grown.
 */
export function ofStatements(settings: StoreSettings): ConnectionSettings {
  return {
    ...common(settings),
    options: `${settings.hosts.options} ${limits(settings)} ${asOptions(steady)}`,
  }
}

export function ofSessions(settings: StoreSettings): ConnectionSettings {
  return {
    ...common(settings),
    options: `${settings.hosts.options} ${limits(settings)}`,
  }
}

function common({ pooler, connectTimeoutMs, statementTimeoutMs }: StoreSettings) {
  return { pooler, connectTimeoutMs, statementTimeoutMs }
}

function limits({ statementTimeoutMs, lockTimeoutMs }: StoreSettings): string {
  return asOptions({
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    // A session of ours is never idle in a transaction for long, unless its process is stopped.
    idle_in_transaction_session_timeout: statementTimeoutMs * 2,
  })
}

export function ofMigration(settings: StoreSettings): ConnectionSettings {
  return { ...common(settings), options: settings.hosts.options, statementTimeoutMs: migrationTimeoutMs }
}

function asOptions(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')
}

/** Where hints are sent and listened for. */
export function channelOf({ schema }: StoreSettings): string {
  return `counterfoil_${schema}`
}
