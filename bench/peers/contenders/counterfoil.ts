/**
 * Counterfoil as a program uses it: a Standard Webhooks producer, a trigger that plans one effect of the event's
 * data, and a recipient that remembers keys. Its defaults, but for 192 attempts at once over 64 connections:
 * many share a commit, and half of them are claimed while the other half is called.
 */
import {
  type Counterfoil,
  counterfoil,
  type LimitOptions,
  type Network,
  producer,
  recipient,
  type Store,
  trigger,
  undiciNetwork,
} from 'counterfoil'
import { postgres } from 'counterfoil/postgres'
import { standardWebhooks } from 'counterfoil/producers'
import { z } from 'zod'
import { secret, signed } from '../../deliveries.ts'
import { concurrently } from '../../figures.ts'
import type { Contender, Item, Place, Sending } from '../contender.ts'
import { databaseOf } from '../measure.ts'

/** The same in the process that fills and the one that works. */
process.env.COUNTERFOIL_VAULT_KEYS = `bench:${Buffer.alloc(32, 7).toString('base64')}`

/** @param limits with some, effects are begun by claim alone, never in the commit of their plan */
function appOf(store: Store, place: Place, network: Network, limits?: LimitOptions): Counterfoil {
  const bench = producer('bench', standardWebhooks({ secrets: secret }))
  const sink = recipient('sink', {
    url: place.sink ?? 'http://127.0.0.1:9',
    allowPrivateAddresses: true,
    concurrency: 192,
    ...(limits === undefined ? {} : { limits }),
    contract: {
      idempotency: {
        header: 'Idempotency-Key',
        remembersFor: '24h',
        otherPayload: 'refused',
        replays: 'first-success',
      },
    },
  })
  const data = z.looseObject({ id: z.string() })
  const collect = sink.effect('invoice.collect', {
    payload: data,
    request: (body) => ({ method: 'POST', path: '/collect', body }),
  })
  return counterfoil({
    store,
    network,
    triggers: [
      trigger('collect a paid invoice', {
        on: bench.event('invoice.paid', { schema: data }),
        plan: (event, { effect }) =>
          effect(collect, { key: `invoice/${event.data.id}`, payload: event.data }),
      }),
    ],
    recipients: [sink],
    log: (level, message, about) => {
      if (level === 'error') console.error(message, about)
    },
  })
}

/** Confirms at once, or calls the sink. */
function networkOf({ sink }: Place, acted: () => void): Network {
  if (sink !== null) {
    const real = undiciNetwork({ connectionsPerOrigin: 64 })
    return {
      async send(request, signal) {
        const exchange = await real.send(request, signal)
        acted()
        return exchange
      },
      close: () => real.close(),
    }
  }
  return {
    async send() {
      acted()
      return { kind: 'answered', status: 200, headers: {}, body: new Uint8Array() }
    },
    close: async () => {},
  }
}

/** The store with some of its methods replaced. */
function changed(store: Store, methods: Partial<Store>): Store {
  return new Proxy(store, {
    get(target, name) {
      const value = methods[name as keyof Store] ?? target[name as keyof Store]
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

async function received(app: Counterfoil, request: Request): Promise<void> {
  const response = await app.receive(request)
  if (response.status !== 202) throw new Error(`${response.status}: ${await response.text()}`)
}

const prepare = ({ id, body }: Item) => signed(`msg_${id}`, body)

async function receiving(place: Place, work: boolean, acted = () => {}): Promise<Sending> {
  const app = appOf(postgres(place.url), place, networkOf(place, acted))
  await app.start({ work })
  return { prepare, send: (request) => received(app, request as Request), close: () => app.stop() }
}

/** Signature, JSON, fingerprint, sealing, and the commit. */
export const receive: Contender = { sending: (place) => receiving(place, false) }

/** The store alone: what intake would hand it is made before the clock runs. */
export const accept: Contender = {
  async sending(place) {
    const store = postgres(place.url)
    let entry: Parameters<Store['accept']>[0] | undefined
    const capturing = changed(store, {
      async accept(given) {
        entry = given
        return { outcome: 'duplicate', receipt: given.receipt.id }
      },
    })
    const app = appOf(
      capturing,
      place,
      networkOf(place, () => {}),
    )
    await app.start({ work: false })
    return {
      async prepare(item) {
        await app.receive(prepare(item))
        return entry
      },
      async send(prepared) {
        const { outcome } = await store.accept(prepared as Parameters<Store['accept']>[0])
        if (outcome !== 'accepted') throw new Error(outcome)
      },
      close: () => app.stop(),
    }
  },
}

async function workingOn(place: Place, acted: () => void) {
  const app = appOf(postgres(place.url), place, networkOf(place, acted))
  await app.start()
  return {
    async finished() {
      const { outbox, effects } = await app.store.status()
      return outbox.waiting === 0 && effects.byState.confirmed === effects.total
    },
    close: () => app.stop(),
  }
}

/** Receipts wait: they are planned, begun, called and settled. */
export const wholeWay: Contender = {
  async filled(place, items) {
    const sending = await receiving(place, false)
    await concurrently(items.length, 64, (index) => sending.send(prepare(items[index]!)))
    await sending.close()
  },
  working: workingOn,
  idling: (place, acted) => receiving(place, true, acted),
}

/** Effects wait in the ledger: they are begun, called and settled. */
export const effects: Contender = {
  async filled(place, items) {
    const store = changed(postgres(place.url), { takeDue: async () => [] })
    const app = appOf(
      store,
      place,
      networkOf(place, () => {}),
      { concurrency: 1_000 },
    )
    await app.start()
    await concurrently(items.length, 64, (index) => received(app, prepare(items[index]!)))
    for (;;) {
      const { outbox, effects } = await app.store.status()
      if (outbox.waiting === 0 && effects.byState.planned >= items.length) break
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    await app.stop()
  },
  working: workingOn,
  async aged(place, items) {
    const store = postgres(place.url)
    await store.open({ migrate: true })
    await store.close()
    const database = await databaseOf(place)
    for (const statement of oldEffects) await database.run(statement.replaceAll('$items', String(items)))
    await database.close()
  },
}

/**
 * A ledger as a long life leaves it: each receipt planned, its effect confirmed at the first attempt, identities
 * spread over the indexes like new ones. Payloads are short; nothing reads them again.
 */
const oldEffects = [
  `insert into counterfoil.receipt (seq, id, delivery, producer, namespace, source, event_id, type, schema_version,
     fingerprint, raw_fingerprint, content_type, bytes, signed, origin, event_at, received_at)
   select n, 'rcp_' || lpad(n::text, 26, '0'), sha256(n::text::bytea), 'bench', 'bench', 'standard-webhooks',
     'msg_' || md5(n::text)::uuid, 'invoice.paid', null, '\\x01'::bytea || sha256(n::text::bytea),
     '\\x02'::bytea || sha256(n::text::bytea), 'application/json', 1000, true, 'live', null, 1700000000000 + n
   from generate_series(1, $items) n`,
  `insert into counterfoil.vault (receipt, key_id, nonce, ciphertext)
   select n, 'bench', decode(repeat('00', 12), 'hex'), sha256(n::text::bytea) from generate_series(1, $items) n`,
  `insert into counterfoil.plan (receipt, at, by)
   select n, 1700000000000 + n, 'unversioned' from generate_series(1, $items) n`,
  `insert into counterfoil.effect (seq, id, recipient, key, name, fingerprint, idempotency_key, planned_at)
   select n, 'eff_' || lpad(n::text, 26, '0'), 'sink', 'invoice/' || md5(n::text)::uuid, 'invoice.collect',
     '\\x01'::bytea || sha256(n::text::bytea), md5(n::text), 1700000000000 + n from generate_series(1, $items) n`,
  `insert into counterfoil.request (effect, key_id, nonce, ciphertext)
   select n, 'bench', decode(repeat('00', 12), 'hex'), sha256(n::text::bytea) from generate_series(1, $items) n`,
  `insert into counterfoil.cause (effect, receipt, trigger, at)
   select n, n, 'collect a paid invoice', 1700000000000 + n from generate_series(1, $items) n`,
  `insert into counterfoil.attempt (effect, number, begun_at, ended_at, outcome, open, why, status, worker)
   select n, 1, 1700000000000 + n, 1700000000005 + n, 'confirmed', false, '200', 200, 'wrk_old'
   from generate_series(1, $items) n`,
  `insert into counterfoil.final (effect, state, version, disputed, escalated, changed_at)
   select n, 'confirmed', 3, false, false, 1700000000005 + n from generate_series(1, $items) n`,
  `insert into counterfoil.tally (name, value) values ('receipts', $items), ('confirmed', $items)`,
  `select setval('counterfoil.receipt_seq', $items), setval('counterfoil.effect_seq', $items)`,
]
