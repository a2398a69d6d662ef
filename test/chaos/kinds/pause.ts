import { setTimeout as sleep } from 'node:timers/promises'
import type { Kind } from '../kind.ts'
import { between, chance, pick } from '../random.ts'
import { plainStage } from './plain-stage.ts'

/** Servers hold leases for 2 s (chaos.config.ts). */
const leaseMs = 2_000
const share = { recipient: 0.2, short: 0.3 }

export const pause: Kind = {
  name: 'pause',
  about: 'SIGSTOP of servers and recipients, mostly for longer than a lease, then SIGCONT',
  unit: 'pauses',
  stores: ['sqlite', 'postgres'],
  full: 100,
  episode: 50,
  everyMs: [50, 300],
  servers: 3,
  control: 'time-out-is-failure',
  async stage(setting) {
    const { random } = setting
    return await plainStage(setting, async ({ fleet }) => {
      const sleeper = chance(random, share.recipient) ? fleet.recipient : pick(random, fleet.servers)
      sleeper.signal('SIGSTOP')
      const ms = chance(random, share.short)
        ? between(random, 50, leaseMs)
        : between(random, leaseMs, 2 * leaseMs)
      await sleep(ms)
      sleeper.signal('SIGCONT')
    })
  },
}
