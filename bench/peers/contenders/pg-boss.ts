/**
 * pg-boss: a partition of its own for the queue, no maintenance while the clock runs. Work is fetched 500 at a
 * time by two workers that go on at once while batches are full (its documentation's advice for throughput).
 */
import { PgBoss, type WorkOptions } from 'pg-boss'
import type { Body, Contender, Item, Place } from '../contender.ts'
import { type Effect, effectOf } from '../effect.ts'
import { databaseOf } from '../measure.ts'

const queue = 'collect'
const connections = 20

async function started({ url }: Place, listen = false): Promise<PgBoss> {
  const boss = new PgBoss({
    connectionString: url,
    max: connections,
    supervise: false,
    schedule: false,
    useListenNotify: listen,
  })
  boss.on('error', (error) => {
    throw error
  })
  await boss.start()
  await boss.createQueue(queue, { partition: true, notify: listen })
  return boss
}

const prepare = ({ id, body }: Item) => ({ name: queue, data: body, options: { id } })

async function send(boss: PgBoss, prepared: unknown): Promise<void> {
  if ((await boss.send(prepared as ReturnType<typeof prepare>)) === null) throw new Error('not sent')
}

async function filled(place: Place, items: readonly Item[]): Promise<void> {
  const boss = await started(place)
  for (let from = 0; from < items.length; from += 500)
    await boss.insert(
      queue,
      items.slice(from, from + 500).map(({ id, body }) => ({ id, data: body })),
    )
  await boss.stop({ graceful: false })
}

type Work = (boss: PgBoss, options: WorkOptions, effect: Effect) => Promise<unknown>

/** A batch is completed as a whole; one failure would fail them all. */
const asOne: Work = (boss, options, effect) =>
  boss.work<Body>(queue, options, async (jobs) => {
    await Promise.all(jobs.map((job) => effect.run(job.data)))
  })

/** Each job of a batch has its own result. */
const perJob: Work = (boss, options, effect) =>
  boss.work<Body>(queue, { ...options, perJobResults: true }, async (jobs) =>
    Promise.all(
      jobs.map(async (job) => {
        await effect.run(job.data)
        return { id: job.id, status: 'completed' as const }
      }),
    ),
  )

function working(work: Work): NonNullable<Contender['working']> {
  return async (place, acted) => {
    const boss = await started(place)
    const database = await databaseOf(place)
    const effect = effectOf(place, acted)
    await work(boss, { batchSize: 500, localConcurrency: 2, burstWhenBatchFull: true }, effect)
    return {
      finished: () =>
        database.none(`select from pgboss.job where name = '${queue}' and state <> 'completed'`),
      async close() {
        await boss.stop()
        await effect.close()
        await database.close()
      },
    }
  }
}

export const pgBoss: Contender = {
  async sending(place) {
    const boss = await started(place)
    return { prepare, send: (prepared) => send(boss, prepared), close: () => boss.stop() }
  },
  filled,
  working: working(asOne),
  async idling(place, acted) {
    const boss = await started(place, true)
    const effect = effectOf(place, acted)
    await boss.work<Body>(queue, { notifyPollingIntervalSeconds: 30 }, async (jobs) => {
      for (const job of jobs) await effect.run(job.data)
    })
    return { prepare, send: (prepared) => send(boss, prepared), close: () => boss.stop() }
  },
  async aged(place, items) {
    const boss = await started(place)
    await boss.stop({ graceful: false })
    const database = await databaseOf(place)
    await database.run(
      `insert into pgboss.job (id, name, data, state, started_on, completed_on)
       select gen_random_uuid(), '${queue}', jsonb_build_object('id', n, 'filler', repeat(md5(n::text), 28)),
              'completed', now(), now()
         from generate_series(1, ${items}) as n`,
    )
    await database.close()
  },
}

export const pgBossPerJob: Contender = { filled, working: working(perJob) }
