import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { type Counterfoil, counterfoil, producer, recipient, trigger } from 'counterfoil'
import { standardWebhooks } from 'counterfoil/producers'
import { sqlite } from 'counterfoil/sqlite'
import { z } from 'zod'
import { secret } from './deliveries.ts'

/** A directory on the disk under test, not in memory: the figures are about durable commits. */
export function benchDirectory(): string {
  return mkdtempSync(join(process.env.BENCH_DIR ?? process.cwd(), '.counterfoil-bench-'))
}

/** One producer, one trigger, one recipient: the shortest whole way. */
export function benchApp(directory: string, sinkUrl = 'http://127.0.0.1:9'): Counterfoil {
  const bench = producer('bench', standardWebhooks({ secrets: secret }))
  const sink = recipient('sink', {
    url: sinkUrl,
    allowPrivateAddresses: true,
    concurrency: 64,
    contract: {
      idempotency: {
        header: 'Idempotency-Key',
        remembersFor: '24h',
        otherPayload: 'refused',
        replays: 'first-success',
      },
    },
  })
  const collect = sink.effect('invoice.collect', {
    payload: z.object({ invoice: z.string(), amount: z.number() }),
    request: (payload) => ({ method: 'POST', path: '/collect', body: payload }),
  })
  return counterfoil({
    store: sqlite(join(directory, 'counterfoil.db')),
    triggers: [
      trigger('collect a paid invoice', {
        on: bench.event('invoice.paid', { schema: z.object({ id: z.string(), amount: z.number() }) }),
        plan: ({ data }, { effect }) =>
          effect(collect, { key: `invoice/${data.id}`, payload: { invoice: data.id, amount: data.amount } }),
      }),
    ],
    recipients: [sink],
    log: () => {},
  })
}
