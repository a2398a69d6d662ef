import type { DatabaseSync } from 'node:sqlite'
import {
  type Counterfoil,
  counterfoil,
  internal,
  publishedContract,
  recipient,
  type Store,
  trigger,
} from 'counterfoil'
import { nodeSqlite } from 'counterfoil/adapters/node-sqlite'
import { z } from 'zod'

const Order = z.object({ order: z.string(), pieces: z.number().int().positive() })

export const placed = internal('shop').event('order.placed', { schema: Order })

/** Orders reserve at the warehouse, which publishes what it promises. */
export async function orders(about: {
  store: Store
  database: DatabaseSync
  /** As the network leads there. */
  warehouse: string
}): Promise<Counterfoil<DatabaseSync>> {
  const transactions = nodeSqlite(about.database)
  const warehouse = recipient('warehouse', {
    url: about.warehouse,
    allowPrivateAddresses: true,
    timeout: '300ms',
    contract: await publishedContract(about.warehouse, { allowPrivateAddresses: true }),
  })
  const reserve = warehouse.effect('stock.reserve', {
    payload: Order,
    request: (payload) => ({ method: 'POST', path: '/reservations', body: payload }),
  })
  return counterfoil({
    store: about.store,
    transactions,
    recipients: [warehouse],
    triggers: [
      trigger('reserve what was ordered', {
        on: placed,
        in: transactions,
        plan: ({ data }, { effect }) =>
          effect(reserve, { key: `order/${data.order}/reserve/revision/1`, payload: data }),
      }),
    ],
    log: () => {},
  })
}
