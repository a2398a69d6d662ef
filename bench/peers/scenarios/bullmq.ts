/**
 * BullMQ: jobs with an id of their own, three attempts with exponential back-off, what is finished kept.
 *
 * - jobId against duplicates: https://docs.bullmq.io/guide/jobs/job-ids
 * - attempts and backoff: https://docs.bullmq.io/guide/retrying-failing-jobs
 * - removeOnComplete, and what it does to idempotence: https://docs.bullmq.io/guide/queues/auto-removal-of-jobs
 * - lockDuration, stalledInterval, maxStalledCount: https://docs.bullmq.io/guide/workers/stalled-jobs
 * - append-only file and no eviction: https://docs.bullmq.io/guide/going-to-production
 */
import { type Job, Queue, UnrecoverableError, Worker } from 'bullmq'
import { type Event, type System, type SystemRecord, shortMs } from '../../scenarios/system.ts'
import { collect, isKnown, jobName, kindOf, saysOf, tries } from './collect.ts'
import { redis, versionOf } from './places.ts'

const name = 'events'
const states = ['completed', 'failed', 'waiting', 'active', 'delayed', 'prioritized'] as const

export const system: System = {
  name: 'BullMQ',
  about: `${versionOf('bullmq')} on Redis 7 with appendonly`,
  place: redis,
  async open(setting, at, _as, beforeCall) {
    const queue = new Queue<Event>(name, {
      connection: { url: at },
      defaultJobOptions: {
        attempts: setting.retries ? 3 : 1,
        backoff: { type: 'exponential', delay: 1_000 },
        // Kept for ever by default; its page on production says that this is usually not desired.
        removeOnComplete: setting.keeps === 'for ever' ? false : { age: shortMs / 1000 },
      },
    })
    const worker = new Worker<Event>(
      name,
      async (job) => {
        // https://docs.bullmq.io/patterns/named-processor and …/stop-retrying-jobs
        if (!isKnown(job.name)) throw new UnrecoverableError(`no code for ${job.name}`)
        return await collect(job.data, setting, beforeCall)
      },
      // 30 s both by default.
      { connection: { url: at }, concurrency: 4, lockDuration: setting.leaseMs, stalledInterval: 1_000 },
    )
    queue.on('error', () => {})
    worker.on('error', () => {})
    return {
      async deliver(event) {
        const job = await queue.add(kindOf(event), event, {
          jobId: jobName(event, setting).replaceAll(':', '_'),
        })
        return job.id === undefined ? 'add() gave no id' : 'add() gave a job'
      },
      async records() {
        const found = await Promise.all(
          states.map(async (state) => (await queue.getJobs([state])).map((job) => recordOf(job, state))),
        )
        return found.flat()
      },
    }
  },
}

function recordOf(job: Job<Event>, state: (typeof states)[number]): SystemRecord {
  const holds = JSON.stringify([job.name, job.data, job.failedReason])
  const why = state === 'completed' ? `: ${job.returnvalue}` : job.failedReason ? `: ${job.failedReason}` : ''
  const words = `job ${state} after ${tries(job.attemptsStarted)}${why}`
  if (state === 'completed') return { says: saysOf(job.returnvalue), words, holds }
  return { says: state === 'failed' ? 'failed' : 'open', words, holds }
}
