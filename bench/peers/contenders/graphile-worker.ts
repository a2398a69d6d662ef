/**
 * graphile-worker: a local queue of 500 and batched completion, as its page on performance advises, 64 jobs at
 * once, and a silent logger (the usual one writes a line a job).
 */
import { Logger, makeWorkerUtils, run, type WorkerUtils } from 'graphile-worker'
import { Pool } from 'pg'
import type { Body, Contender, Item, Place, Sending } from '../contender.ts'
import { effectOf } from '../effect.ts'
import { databaseOf } from '../measure.ts'

const task = 'collect'
const connections = 20
const logger = new Logger(() => () => {})

const prepare = ({ id, body }: Item) => ({ id, body })

async function utils({ url }: Place): Promise<{ utils: WorkerUtils; close(): Promise<void> }> {
  const pgPool = new Pool({ connectionString: url, max: connections })
  pgPool.on('error', () => {})
  const made = await makeWorkerUtils({ pgPool, logger })
  await made.migrate()
  return {
    utils: made,
    async close() {
      await made.release()
      await pgPool.end()
    },
  }
}

async function sending(place: Place): Promise<Sending> {
  const { utils: worker, close } = await utils(place)
  return {
    prepare,
    async send(prepared) {
      const { id, body } = prepared as ReturnType<typeof prepare>
      await worker.addJob(task, body, { jobKey: id })
    },
    close,
  }
}

export const graphileWorker: Contender = {
  sending,
  async filled(place, items) {
    const { utils: worker, close } = await utils(place)
    for (let from = 0; from < items.length; from += 500)
      await worker.addJobs(
        items
          .slice(from, from + 500)
          .map(({ id, body }) => ({ identifier: task, payload: body, jobKey: id })),
      )
    await close()
  },
  async working(place, acted) {
    const database = await databaseOf(place)
    const effect = effectOf(place, acted)
    const pgPool = new Pool({ connectionString: place.url, max: connections })
    pgPool.on('error', () => {})
    const runner = await run({
      pgPool,
      logger,
      noHandleSignals: true,
      taskList: { [task]: (payload) => effect.run(payload as Body) },
      preset: {
        worker: {
          concurrentJobs: 64,
          localQueue: { size: 500 },
          completeJobBatchDelay: 0,
          failJobBatchDelay: 0,
        },
      },
    })
    return {
      finished: () => database.none('select from graphile_worker._private_jobs'),
      async close() {
        await runner.stop()
        await pgPool.end()
        await effect.close()
        await database.close()
      },
    }
  },
  async idling(place, acted) {
    const effect = effectOf(place, acted)
    const sender = await sending(place)
    const pgPool = new Pool({ connectionString: place.url, max: connections })
    pgPool.on('error', () => {})
    const runner = await run({
      pgPool,
      logger,
      concurrency: 4,
      noHandleSignals: true,
      taskList: { [task]: (payload) => effect.run(payload as Body) },
    })
    return {
      ...sender,
      async close() {
        await runner.stop()
        await pgPool.end()
        await sender.close()
      },
    }
  },
}
