import { setTimeout as sleep } from 'node:timers/promises'
import { missingMounts, SmallDisk } from '../disk.ts'
import type { Kind } from '../kind.ts'
import { postgresPlace, sqlitePlace, startServer } from '../places.ts'
import { answersAgain } from '../postgres.ts'
import { between } from '../random.ts'
import { plainStage } from './plain-stage.ts'

/** Room for an episode: SQLite's file with its log; a cluster of PostgreSQL with its segments. */
const megabytes = { sqlite: 64, postgres: 400 }

export const full: Kind = {
  name: 'full',
  about: 'the disk with the records is full for a while, then has room again',
  unit: 'outages',
  stores: ['sqlite', 'postgres'],
  full: 100,
  episode: 25,
  everyMs: [100, 500],
  servers: 2,
  control: 'failure-is-committed',
  missing: missingMounts,
  async stage(setting) {
    const { store, random } = setting
    const disk = new SmallDisk(setting, megabytes[store])
    const server =
      store === 'sqlite'
        ? undefined
        : await startServer(setting, { min_wal_size: '32MB' }, { under: disk.mount })
    const place = server === undefined ? await sqlitePlace(disk.mount) : await postgresPlace(() => server)
    const strike = async () => {
      disk.fill()
      // Or what was reserved for its log would last for long.
      for (let n = 0; n < 2; n++) await server?.query('select pg_switch_wal()').catch(() => {})
      await sleep(between(random, 200, 1_200))
      disk.free()
      // It panics when it cannot write its log.
      if (server !== undefined) await answersAgain(server)
    }
    return await plainStage(setting, strike, { place, calm: async () => disk.free() })
  },
}
