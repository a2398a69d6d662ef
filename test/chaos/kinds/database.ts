import { setTimeout as sleep } from 'node:timers/promises'
import type { Kind } from '../kind.ts'
import { postgresPlace, startServer } from '../places.ts'
import { answersAgain, runAgain } from '../postgres.ts'
import { between, pick } from '../random.ts'
import { plainStage } from './plain-stage.ts'

const ways = ['postmaster', 'postmaster', 'immediate', 'backend'] as const

export const database: Kind = {
  name: 'database',
  about:
    'PostgreSQL crashes: SIGKILL of the postmaster or of a backend, or an immediate shutdown; and it starts again',
  unit: 'crashes',
  stores: ['postgres'],
  full: 100,
  episode: 50,
  everyMs: [20, 500],
  servers: 2,
  control: 'failure-is-committed',
  async stage(setting) {
    const { random } = setting
    const server = await startServer(setting)
    const place = await postgresPlace(() => server)
    const strike = async () => {
      const way = pick(random, ways)
      if (way === 'backend') {
        const [row] = await server.query(
          "select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() order by random() limit 1",
        )
        // The postmaster ends all the others, and recovers.
        if (row !== undefined) process.kill(row.pid, 'SIGKILL')
        await sleep(20)
        return await answersAgain(server)
      }
      await server.kill(way === 'immediate' ? 'SIGQUIT' : 'SIGKILL')
      await sleep(between(random, 0, 300))
      await runAgain(server)
    }
    return await plainStage(setting, strike, { place })
  },
}
