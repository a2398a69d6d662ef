import { setTimeout as sleep } from 'node:timers/promises'
import { CuttingProxy } from '../../../packages/counterfoil/src/store/postgres/fixtures/proxy.ts'
import type { Kind } from '../kind.ts'
import { missingNetworks, Switch } from '../netns.ts'
import { postgresPlace, sqlitePlace, startServer } from '../places.ts'
import { between, pick } from '../random.ts'
import { plainStage } from './plain-stage.ts'

export const partition: Kind = {
  name: 'partition',
  about:
    'packets of a server to its recipients, to PostgreSQL or to all are dropped (network namespaces, iptables)',
  unit: 'partitions',
  stores: ['sqlite', 'postgres'],
  full: 100,
  episode: 25,
  everyMs: [50, 300],
  servers: 2,
  control: 'time-out-is-failure',
  missing: missingNetworks,
  async stage(setting) {
    const { store, random, directory } = setting
    const net = new Switch(setting)
    let database: number | undefined
    let place = store === 'sqlite' ? await sqlitePlace(directory) : undefined
    if (place === undefined) {
      const server = await startServer(setting)
      // The server listens on the loopback only; its end of a dropped connection stays open, as after a real partition.
      const proxy = await CuttingProxy.start(() => server.port, net.address)
      setting.defer(() => proxy.dispose())
      place = { ...(await postgresPlace(() => server)), store: proxy.url }
      database = proxy.port
    }
    return await plainStage(
      setting,
      async ({ fleet }) => {
        const recipient = Number(new URL(fleet.recipient.url).port)
        const index = Math.floor(random.fraction() * fleet.servers.length)
        net.drop(index, pick(random, [recipient, database, undefined]))
        // Shorter and longer than a lease.
        await sleep(between(random, 200, 4_000))
        net.heal(index)
      },
      {
        place,
        fleet: {
          host: net.address,
          server: (index) => ({ host: net.addressOf(index), under: net.on(index) }),
        },
      },
    )
  },
}
