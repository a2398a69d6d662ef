import type { DatabaseSync } from 'node:sqlite'
import {
  type Counterfoil,
  counterfoil,
  internal,
  producer,
  recipient,
  type Store,
  trigger,
} from 'counterfoil'
import { nodeSqlite } from 'counterfoil/adapters/node-sqlite'
import { standardWebhooks } from 'counterfoil/producers'
import { z } from 'zod'

const Order = z.object({ order: z.string() })
const orders = internal('shop')
/** Step 2: what the monolith publishes in the transaction that it had already. */
export const placed = orders.event('order.placed', { schema: Order })

/** The monolith's own tables and Counterfoil's, in one file. */
export function monolith(about: {
  store: Store
  database: DatabaseSync
  bank: string
  webhookSecret: string
}): Counterfoil<DatabaseSync> {
  const transactions = nodeSqlite(about.database)
  const carrier = producer('carrier', standardWebhooks({ secrets: about.webhookSecret }))
  const bank = recipient('bank', {
    url: about.bank,
    allowPrivateAddresses: true,
    timeout: '300ms',
    contract: {
      idempotency: {
        header: 'Idempotency-Key',
        remembersFor: '24h',
        otherPayload: 'refused',
        replays: 'first-success',
      },
    },
  })
  const charge = bank.effect('order.charge', {
    payload: Order,
    request: (payload) => ({ method: 'POST', path: '/charges', body: payload }),
  })
  return counterfoil({
    store: about.store,
    transactions,
    recipients: [bank],
    triggers: [
      // Step 1: no effects yet. Webhooks get a receipt, and the monolith's own table is written once an event.
      trigger('note what was delivered', {
        on: carrier.event('parcel.delivered', { schema: Order }),
        in: transactions,
        plan: ({ data }, { tx }) =>
          void tx.prepare('update placed_order set parcels = parcels + 1 where id = ?').run(data.order),
      }),
      // Step 2: the call leaves the request handler, and goes through the ledger.
      trigger('charge what was ordered', {
        on: placed,
        in: transactions,
        plan: ({ data }, { effect }) =>
          effect(charge, { key: `order/${data.order}/charge/revision/1`, payload: data }),
      }),
    ],
    log: () => {},
  })
}
