/**
 * pg-boss: a queue a kind of work, jobs with an id made of their name, retries with back-off, a dead letter queue.
 *
 * - id, retryLimit, retryBackoff, expireInSeconds, deleteAfterSeconds: https://pgboss.io/api/jobs
 * - deadLetter: https://pgboss.io/api/queues
 * - superviseIntervalSeconds and the like: https://pgboss.io/api/constructor
 */
import { createHash } from 'node:crypto'
import { PgBoss } from 'pg-boss'
import { type Event, type System, type SystemRecord, shortMs } from '../../scenarios/system.ts'
import { collect, jobName, kindOf, kinds, saysOf, tries } from './collect.ts'
import { database, postgresVersion, versionOf } from './places.ts'

const deadLetter = 'dead-letter'

export const system: System = {
  name: 'pg-boss',
  about: `${versionOf('pg-boss')} on ${postgresVersion}`,
  place: database,
  async open(setting, at, _as, beforeCall) {
    const boss = new PgBoss({
      connectionString: at,
      // A minute each, and a day for maintenance, by default.
      superviseIntervalSeconds: 1,
      monitorIntervalSeconds: 1,
      maintenanceIntervalSeconds: 1,
    })
    boss.on('error', () => {})
    await boss.start()
    await boss.createQueue(deadLetter)
    for (const kind of kinds) {
      await boss.createQueue(kind, {
        deadLetter,
        retryLimit: setting.retries ? 2 : 0,
        retryDelay: 1,
        retryBackoff: true,
        // 15 minutes by default.
        expireInSeconds: setting.leaseMs / 1000,
        deleteAfterSeconds: setting.keeps === 'for ever' ? 0 : shortMs / 1000,
      })
      await boss.work<Event>(kind, { pollingIntervalSeconds: 0.5 }, async ([job]) =>
        collect(job!.data, setting, beforeCall),
      )
    }
    return {
      async deliver(event) {
        const id = await boss.send(kindOf(event), event, { id: uuidOf(jobName(event, setting)) })
        return id === null ? 'send() gave null' : 'send() gave an id'
      },
      async records() {
        const found = await Promise.all([...kinds, deadLetter].map((name) => boss.findJobs<Event>(name)))
        return found.flat().map(recordOf)
      },
    }
  },
}

/** The same name always makes the same id, so that the table's primary key finds the duplicate. */
function uuidOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex')
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-5$3-8$4-$5')
}

type Job = Awaited<ReturnType<PgBoss['findJobs']>>[number]

function recordOf(job: Job): SystemRecord {
  const holds = JSON.stringify([job.name, job.data, job.output])
  if (job.name === deadLetter) return { says: 'failed', words: 'a copy in the dead letter queue', holds }
  const result = (job.output as { value?: unknown } | null)?.value
  const words = `job ${job.state} after ${tries(job.retryCount + 1)}${because(job)}`
  if (job.state === 'completed') return { says: saysOf(result), words, holds }
  return { says: job.state === 'failed' || job.state === 'cancelled' ? 'failed' : 'open', words, holds }
}

function because({ output, state }: Job): string {
  const { message, value } = (output ?? {}) as { message?: string; value?: string }
  return state === 'completed'
    ? value === undefined
      ? ''
      : `: ${value}`
    : message === undefined
      ? ''
      : `: ${message}`
}
