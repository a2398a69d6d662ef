import { setTimeout as sleep } from 'node:timers/promises'
import type { Kind } from '../kind.ts'
import { postgresPlace, sqlitePlace, startServer } from '../places.ts'
import { answersAgain, processesOf } from '../postgres.ts'
import { between, pick } from '../random.ts'
import { failSyncs, missingStrace } from '../strace.ts'
import { plainStage } from './plain-stage.ts'

export const sync: Kind = {
  name: 'sync',
  about:
    'for a while every fsync and fdatasync fails with EIO (strace): of a server on SQLite, of all of PostgreSQL',
  unit: 'outages',
  stores: ['sqlite', 'postgres'],
  full: 100,
  episode: 25,
  everyMs: [100, 500],
  servers: 2,
  control: 'failure-is-committed',
  missing: missingStrace,
  async stage(setting) {
    const { store, random, directory } = setting
    const outage = async (pids: readonly number[]) => {
      const mend = await failSyncs(pids)
      await sleep(between(random, 100, 600))
      await mend()
    }
    if (store === 'sqlite') {
      const place = await sqlitePlace(directory)
      const strike = async ({ fleet }: Parameters<Parameters<typeof plainStage>[1]>[0]) => {
        const { pid } = pick(random, fleet.servers)
        if (pid !== undefined) await outage([pid])
      }
      return await plainStage(setting, strike, { place })
    }
    const server = await startServer(setting)
    const place = await postgresPlace(() => server)
    const strike = async () => {
      await outage(processesOf(server))
      // It panics at the first, and recovers by itself once it can.
      await answersAgain(server)
    }
    return await plainStage(setting, strike, { place })
  },
}
