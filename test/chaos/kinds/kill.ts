import type { Kind } from '../kind.ts'
import { chance, pick } from '../random.ts'
import { plainStage } from './plain-stage.ts'

const share = { recipient: 0.2, starting: 0.2 }

export const kill: Kind = {
  name: 'kill',
  about: 'SIGKILL of servers, which receive and work, and of the recipients, also while they start',
  unit: 'kills',
  stores: ['sqlite', 'postgres'],
  full: 1_000,
  episode: 100,
  everyMs: [20, 400],
  servers: 4,
  control: 'acknowledge-first',
  async stage(setting) {
    const { random } = setting
    return await plainStage(setting, async ({ fleet }) => {
      const everyone = chance(random, share.recipient) ? [fleet.recipient] : fleet.servers
      // Without one that works there is nothing to hurt.
      await Promise.any(everyone.map((member) => member.start()))
      const ready = everyone.filter((member) => member.ready)
      await pick(random, chance(random, share.starting) ? everyone : ready).kill()
    })
  },
}
