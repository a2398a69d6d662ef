import type { ServerResponse } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import {
  type Guard,
  guard,
  guardedRoute,
  guardPaths,
  type NodeRequest,
  sqliteGuardStore,
} from 'counterfoil/guard'

export interface Warehouse {
  readonly handle: (request: NodeRequest, response: ServerResponse) => Promise<void>
  /** Pieces that are reserved. */
  reserved(): number
  stop(): void
}

/** The other service. It knows nothing of Counterfoil's ledger; the guard keeps first answers beside its own rows. */
export async function warehouse(file: string): Promise<Warehouse> {
  const database = new DatabaseSync(file)
  database.exec('create table reservation (order_id text, pieces integer) strict')
  const reservations = guard({
    store: sqliteGuardStore(database),
    caller: () => 'orders', // after its own authentication
    remembersFor: '30d',
    log: () => {},
  })
  await reservations.migrate()
  return {
    handle: routes(reservations),
    reserved: () =>
      Number(database.prepare('select coalesce(sum(pieces), 0) as sum from reservation').get()!.sum),
    stop: () => database.close(),
  }
}

function routes(reservations: Guard<DatabaseSync, any>): Warehouse['handle'] {
  const own = guardPaths(reservations) // the contract, lookups and tombstones
  const reserve = guardedRoute(reservations, ({ tx, json }) => {
    const { order, pieces } = json() as { order: string; pieces: number }
    tx.prepare('insert into reservation values (?, ?)').run(order, pieces)
    return { status: 201, json: { reserved: pieces } }
  })
  return async (request, response) => {
    const failed = (error: unknown): void => void response.writeHead(error === undefined ? 404 : 500).end()
    await own(request, response, (error) =>
      error === undefined ? void reserve(request, response, failed) : failed(error),
    )
  }
}
