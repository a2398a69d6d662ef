import { counterfoil, producer, recipient, trigger } from 'counterfoil'
import { postgres } from 'counterfoil/postgres'
import { github } from 'counterfoil/producers'
import { sqlite } from 'counterfoil/sqlite'
import { z } from 'zod'
import { secrets } from '../../demo/secrets.ts'
import { SqliteStore } from '../../packages/counterfoil/src/store/sqlite/store.ts'
import { plant, plantedNetwork, plantedStore } from './planted.ts'
import { contracts, shapes } from './shapes.ts'

/** What the server processes run: a recipient of each shape, on the store that the environment names. */
const { CHAOS_STORE = '', CHAOS_RECIPIENT = 'http://127.0.0.1:1' } = process.env
const onPostgres = CHAOS_STORE.startsWith('postgres:')
const store = onPostgres
  ? postgres(CHAOS_STORE, {
      connectTimeoutMs: 1_000,
      statementTimeoutMs: 3_000,
      maxConnections: 4,
      maxSessions: 2,
    })
  : plant === 'commits-are-not-synced'
    ? new SqliteStore({ path: CHAOS_STORE, busyTimeoutMs: 5_000, synchronous: 'normal' })
    : sqlite(CHAOS_STORE)

const Order = z.object({
  reference: z.string(),
  shape: z.enum(shapes),
  domain: z.string(),
  version: z.number(),
})
const Opened = z.object({ action: z.string(), order: Order })

function at<const S extends keyof typeof contracts>(shape: S) {
  return recipient(shape, {
    url: `${CHAOS_RECIPIENT}/${shape}`,
    contract: contracts[shape],
    allowPrivateAddresses: true,
    timeout: '1s',
    ...(shape === 'queryable' ? { lookup: ({ effectKey, signal }) => ask(effectKey, signal) } : {}),
  })
}

async function ask(reference: string, signal: AbortSignal) {
  const url = `${CHAOS_RECIPIENT}/queryable/operations/${encodeURIComponent(reference)}`
  const { status } = await fetch(url, { signal })
  if (status === 200) return 'acted' as const
  return status === 404 ? ('absent' as const) : ('nothing' as const)
}

const recipients = {
  idempotent: at('idempotent'),
  queryable: at('queryable'),
  both: at('both'),
  neither: at('neither'),
  guarded: at('guarded'),
}
const about = {
  payload: Order,
  request: (order: z.infer<typeof Order>) => ({ method: 'POST' as const, path: '/orders', body: order }),
}
const effects = {
  idempotent: recipients.idempotent.effect('order.place', about),
  queryable: recipients.queryable.effect('order.place', about),
  both: recipients.both.effect('order.place', about),
  neither: recipients.neither.effect('order.place', about),
}
const placeGuarded = recipients.guarded.effect('order.place', about)

const shop = producer('hub', github({ secrets: secrets.github }))
const placeholder = onPostgres ? '$1' : '?'

export default counterfoil({
  store: plantedStore(store, plant),
  ...plantedNetwork(plant),
  recipients: Object.values(recipients),
  lease: '2s',
  triggers: [
    trigger('place what was ordered', {
      on: shop.event('issues', { schema: Opened }),
      plan: async ({ data: { order } }, { tx, effect }) => {
        const { reference: key, shape, domain, version } = order
        if (shape === 'guarded') effect(placeGuarded, { key, payload: order, order: { domain, version } })
        else effect(effects[shape], { key, payload: order })
        // Rows of the program's own, in the transaction of the plan: as many as plans.
        if (shape === 'both') await tx.run(`insert into chaos_plan (reference) values (${placeholder})`, key)
      },
    }),
  ],
})
