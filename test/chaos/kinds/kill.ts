import { Fleet } from '../fleet.ts'
import type { Kind } from '../kind.ts'
import { placeOn } from '../places.ts'
import { chance, pick } from '../random.ts'

const share = { recipient: 0.15, starting: 0.2 }

export const kill: Kind = {
  name: 'kill',
  about: 'SIGKILL of servers, which receive and work, and of the recipients, also while they start',
  unit: 'kills',
  stores: ['sqlite', 'postgres'],
  full: 1_000,
  episode: 50,
  everyMs: [20, 400],
  servers: 4,
  control: 'acknowledge-first',
  async stage({ store, directory, servers, seed, random, plant }) {
    const place = await placeOn(store, directory)
    const fleet = await Fleet.make({ directory, servers, seed, faults: 0.1, store: place.store, plant })
    return {
      place,
      fleet,
      async strike() {
        const everyone = chance(random, share.recipient) ? [fleet.recipient] : fleet.servers
        const ready = everyone.filter((member) => member.ready)
        const victims = ready.length > 0 && !chance(random, share.starting) ? ready : everyone
        // Without one that works there is nothing to hurt.
        if (ready.length < 2) await Promise.any(fleet.servers.map((server) => server.start()))
        await pick(random, victims).kill()
      },
      calm: () => fleet.start(),
      async dispose() {
        await fleet.dispose()
        await place.dispose()
      },
    }
  },
}
