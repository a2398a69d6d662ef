/**
 * graphile-worker: a task a kind of work, and job keys.
 *
 * - job_key and its modes: https://worker.graphile.org/docs/job-key. The usual mode replaces a waiting job by the new
 *   payload; `unsafe_dedupe`, which changes nothing, comes with a strong warning there, so the usual one is taken.
 * - retries and their delays: https://worker.graphile.org/docs/exponential-backoff
 * - forceUnlockWorkers for a worker that is known to be dead: https://worker.graphile.org/docs/admin-functions
 * - the 4 hours after which a lock is given up: https://worker.graphile.org/docs/error-handling
 */
import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import { Pool } from 'pg'
import type { Event, System, SystemRecord } from '../../scenarios/system.ts'
import { collect, isKnown, jobName, kindOf, kinds, tries } from './collect.ts'
import { database, postgresVersion, versionOf } from './places.ts'

const logger = new Logger(() => () => {})

export const system: System = {
  name: 'graphile-worker',
  about: `${versionOf('graphile-worker')} on ${postgresVersion}`,
  place: database,
  async open(setting, at, _as, beforeCall) {
    const pgPool = new Pool({ connectionString: at })
    // https://err.red/wpeh asks for both.
    pgPool.on('error', () => {})
    pgPool.on('connect', (client) => client.on('error', () => {}))
    const utils = await makeWorkerUtils({ pgPool, logger })
    await utils.migrate()
    const runner = await run({
      pgPool,
      logger,
      noHandleSignals: true,
      taskList: Object.fromEntries(
        kinds.map((kind) => [
          kind,
          async (payload: unknown) => {
            await collect(payload as Event, setting, beforeCall)
          },
        ]),
      ),
      preset: {
        // Every 8 to 10 minutes by default.
        worker: {
          concurrentJobs: 4,
          pollInterval: 500,
          minResetLockedInterval: 500,
          maxResetLockedInterval: 1_000,
        },
      },
    })
    const own = new Set<string>()
    runner.events.on('worker:create', ({ worker }) => own.add(worker.workerId))
    return {
      async deliver(event) {
        // 25 attempts by default, over some 3 days.
        const maxAttempts = setting.retries ? 3 : 1
        await utils.addJob(kindOf(event), event, { jobKey: jobName(event, setting), maxAttempts })
        return 'addJob() gave a job'
      },
      async records() {
        // The view that is documented has no payload; the table is asked for that alone.
        const { rows } = await pgPool.query<Job>(
          `select jobs.*, payload from graphile_worker.jobs join graphile_worker._private_jobs using (id)`,
        )
        return rows.map(recordOf)
      },
      async afterDeath() {
        const { rows } = await pgPool.query<{ locked_by: string }>(
          'select distinct locked_by from graphile_worker.jobs where locked_by is not null',
        )
        const dead = rows.map(({ locked_by }) => locked_by).filter((worker) => !own.has(worker))
        await utils.forceUnlockWorkers(dead)
      },
      // Four hours cannot be set shorter: the lock is made to look that old.
      async leaseEnds() {
        await pgPool.query(
          `update graphile_worker._private_jobs set locked_at = locked_at - interval '4 hours 1 minute'
           where locked_at is not null`,
        )
      },
    }
  },
}

interface Job {
  readonly task_identifier: string
  readonly attempts: number
  readonly max_attempts: number
  readonly last_error: string | null
  readonly locked_at: Date | null
  readonly payload: Event
}

/** A finished job is deleted: there is no record of it. */
function recordOf(job: Job): SystemRecord {
  const holds = JSON.stringify([job.task_identifier, job.payload, job.last_error])
  const error = job.last_error?.split('\n')[0] ?? ''
  if (!isKnown(job.task_identifier))
    return { says: 'set aside', words: 'job waits for a worker that knows its task', holds }
  const failed = job.attempts >= job.max_attempts && job.locked_at === null
  const words = `job ${failed ? 'failed' : 'waiting'} after ${tries(job.attempts)}${error && `: ${error}`}`
  return { says: failed ? 'failed' : 'open', words, holds }
}
