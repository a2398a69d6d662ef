import { setTimeout as sleep } from 'node:timers/promises'
import type { Server } from '../../../packages/counterfoil/src/store/postgres/fixtures/server.ts'
import { startStandby, until } from '../../../packages/counterfoil/src/store/postgres/fixtures/standby.ts'
import type { Kind, Setting } from '../kind.ts'
import { postgresPlace, serverSettings, startServer } from '../places.ts'
import { chance } from '../random.ts'
import { plainStage } from './plain-stage.ts'

/** How often the standby has not heard from the primary for a while when that dies. */
const behind = 0.5

export const failover: Kind = {
  name: 'failover',
  about:
    'the primary is killed, its synchronous standby promoted, and a new standby made in place of the old primary',
  unit: 'failovers',
  stores: ['postgres'],
  full: 50,
  episode: 25,
  everyMs: [100, 600],
  servers: 2,
  control: 'standby-is-not-waited-for',
  async stage(setting) {
    const pair = new Pair(setting)
    setting.defer(() => pair.dispose())
    await pair.start()
    const store = `postgres://postgres@${pair.ports.map((port) => `127.0.0.1:${port}`)}/postgres`
    const place = await postgresPlace(() => pair.primary, store)
    return await plainStage(setting, () => pair.failOver(), { place })
  },
}

/** Two servers, each of them in turn the one that takes writes. */
class Pair {
  readonly #setting: Setting
  readonly #servers: Server[] = []
  #names = 0

  constructor(setting: Setting) {
    this.#setting = setting
  }

  get primary(): Server {
    return this.#servers[0]!
  }

  get ports(): number[] {
    return this.#servers.map(({ port }) => port)
  }

  async start(): Promise<void> {
    this.#servers.push(await startServer(this.#setting))
    await this.#follow(0)
  }

  async failOver(): Promise<void> {
    const { random, plant } = this.#setting
    const [old, next] = this.#servers as [Server, Server]
    const lags = plant === 'standby-is-not-waited-for' || chance(random, behind)
    const sender = lags ? await stopSending(old) : undefined
    await old.kill('SIGKILL')
    if (sender !== undefined) process.kill(sender, 'SIGKILL')
    await next.query('select pg_promote()')
    await until('the standby takes writes', async () => {
      const [row] = await next.query('select pg_is_in_recovery() as follows')
      return row?.follows === false
    })
    this.#servers.shift()
    const { port } = old
    await old.dispose()
    await this.#follow(port)
  }

  async dispose(): Promise<void> {
    for (const server of this.#servers) await server.dispose()
  }

  /** Another standby of the primary, from a fresh copy. */
  async #follow(port: number): Promise<void> {
    const name = `standby_${++this.#names}`
    this.#servers.push(await startStandby(this.primary, name, serverSettings, port === 0 ? {} : { port }))
    if (this.#setting.plant !== 'standby-is-not-waited-for') return
    await this.primary.query("alter system set synchronous_standby_names = ''")
    await this.primary.query('select pg_reload_conf()')
  }
}

/** From now on the standby hears nothing, as when the network fails a little before the machine. */
async function stopSending(primary: Server): Promise<number | undefined> {
  const [row] = await primary.query('select pid from pg_stat_replication')
  if (row === undefined) return undefined
  process.kill(row.pid, 'SIGSTOP')
  await sleep(400)
  return row.pid
}
