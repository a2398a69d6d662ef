import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Store } from 'counterfoil'
import { postgres } from 'counterfoil/postgres'
import { sqlite } from 'counterfoil/sqlite'
import { ledgerFaults as postgresFaults } from '../../packages/counterfoil/src/store/postgres/fixtures/ledger-faults.ts'
import { Server, type ServerPlace } from '../../packages/counterfoil/src/store/postgres/fixtures/server.ts'
import { ledgerFaults as sqliteFaults } from '../../packages/counterfoil/src/store/sqlite/fixtures/ledger-faults.ts'
import type { Setting } from './kind.ts'

/** Where the records of a run are, as servers and the checker reach them. */
export interface Place {
  /** What servers find in `CHAOS_STORE`. */
  readonly store: string
  /** A handle for the checker, which goes around whatever the servers go through. */
  open(): Promise<Store>
  /** What is wrong with the rows, read as a stranger would. */
  faults(): Promise<string[]>
  /**
   * What waits for the end of its back-off is due now. Back-offs double up to five minutes, and that a run need not
   * wait for them is all that it changes: what may be done is decided when it is taken.
   */
  hasten(): Promise<void>
  /** How many rows the trigger of the configuration has written. */
  plans(): Promise<number>
}

const planTable = 'create table if not exists chaos_plan (reference text not null)'

export async function sqlitePlace(directory: string): Promise<Place> {
  mkdirSync(directory, { recursive: true })
  const file = join(directory, 'counterfoil.db')
  const open = async () => {
    const store = sqlite(file, { busyTimeoutMs: 20_000 })
    await store.open({ migrate: true })
    return store
  }
  await (await open()).close()
  withDatabase(file, (db) => db.exec(planTable))
  return {
    store: file,
    open,
    // Alerts have been delivered by now, and delivered ones leave nothing.
    faults: async () => sqliteFaults(file, []).faults.filter((fault) => !fault.includes('without its alert')),
    async hasten() {
      const sql = 'update counterfoil_due set at = ?1 where worker is null and at > ?1'
      withDatabase(file, (db) => db.prepare(sql).run(Date.now()))
    },
    plans: async () =>
      withDatabase(file, (db) => Number(db.prepare('select count(*) as n from chaos_plan').get()?.n)),
  }
}

function withDatabase<Result>(file: string, work: (db: DatabaseSync) => Result): Result {
  const db = new DatabaseSync(file, { timeout: 20_000 })
  try {
    return work(db)
  } finally {
    db.close()
  }
}

/** Small and quick to start, and durable. */
export const serverSettings = { shared_buffers: '16MB', max_connections: '80', max_wal_size: '64MB' }
const major = 18

/**
 * @param current the server that has the records now; it may be another one after a failover
 * @param via the URL that servers use instead of its own
 */
export async function postgresPlace(current: () => Server, via?: string): Promise<Place> {
  const open = async () => {
    const store = postgres(current().url(), { maxConnections: 2, maxSessions: 1 })
    await store.open({ migrate: true })
    return store
  }
  await (await open()).close()
  await current().query(planTable)
  return {
    store: via ?? current().url(),
    open,
    faults: () => postgresFaults(current()),
    async hasten() {
      const now = '(extract(epoch from clock_timestamp()) * 1000)::bigint'
      await current().query(`update counterfoil.open set at = ${now} where worker is null and at > ${now}`)
    },
    plans: async () => (await current().query('select count(*)::int as n from chaos_plan'))[0]!.n,
  }
}

/** A server that goes away with the episode. */
export async function startServer(
  { defer }: Pick<Setting, 'defer'>,
  settings: Readonly<Record<string, string>> = {},
  place: ServerPlace = {},
): Promise<Server> {
  const server = new Server(major, { ...serverSettings, ...settings }, place)
  defer(() => server.dispose())
  await server.begin()
  return server
}

export async function placeOn(setting: Pick<Setting, 'store' | 'directory' | 'defer'>): Promise<Place> {
  if (setting.store === 'sqlite') return await sqlitePlace(setting.directory)
  const server = await startServer(setting)
  return await postgresPlace(() => server)
}
