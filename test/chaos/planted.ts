import { setTimeout as sleep } from 'node:timers/promises'
import { CounterfoilError, type Network, type Store, undiciNetwork } from 'counterfoil'

/**
 * Faults that are built into the servers on purpose, one at a time, to show that a run finds them. Everything
 * else of the servers stays what is published.
 */
export const plants = {
  'time-out-is-failure': 'an answer that did not come is taken for proof that nothing was sent',
  'acknowledge-first': 'a delivery is acknowledged a quarter of a second before its commit is begun',
  'failure-is-committed': 'a commit that failed, or of which nobody knows, is acknowledged',
  'commits-are-not-synced': 'commits do not wait for the disk',
  'standby-is-not-waited-for': 'commits do not wait for the standby',
} as const
export type Plant = keyof typeof plants

export const plant = process.env.CHAOS_PLANT as Plant | undefined

export function plantedNetwork(which: Plant | undefined): { network?: Network } {
  if (which !== 'time-out-is-failure') return {}
  const real = undiciNetwork()
  return {
    network: {
      async send(request, signal) {
        const exchange = await real.send(request, signal)
        return exchange.kind === 'unclear' ? { kind: 'notSent', why: exchange.why } : exchange
      },
      close: () => real.close(),
    },
  }
}

export function plantedStore(store: Store, which: Plant | undefined): Store {
  if (which !== 'acknowledge-first' && which !== 'failure-is-committed') return store
  return new Proxy(store, {
    get(target, property: keyof Store) {
      const member = target[property]
      if (typeof member !== 'function') return member
      return property === 'accept' ? (entry: Acceptance) => accept(target, which, entry) : member.bind(target)
    },
  })
}

type Acceptance = Parameters<Store['accept']>[0]

async function accept(store: Store, which: Plant, entry: Acceptance): ReturnType<Store['accept']> {
  const receipt = entry.receipt.id
  if (which === 'failure-is-committed') {
    return await store.accept(entry).catch((error: unknown) => {
      if (!(error instanceof CounterfoilError)) throw error
      return { outcome: 'duplicate' as const, receipt }
    })
  }
  void sleep(250)
    .then(() => store.accept(entry))
    .catch(() => {})
  return { outcome: 'duplicate', receipt }
}
