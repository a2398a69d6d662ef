import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { WorkerId } from '../domain/index.ts'
import { recipient } from '../recipients/index.ts'
import type { DueWork, EffectView, Settled, Store } from '../store/index.ts'
import { seededRandom, VirtualClock } from '../testing/index.ts'
import { Dispatcher } from './dispatcher.ts'
import type { EffectPorts } from './effects.ts'

const concurrency = 16

/** A store that has effects whose lease ended; each is in work until the test settles it. */
function world(due: number) {
  const clock = new VirtualClock(0)
  const claims: number[] = []
  const inWork: (() => void)[] = []
  let left = due
  const store: Pick<Store, 'takeDue' | 'settle' | 'renew'> = {
    async takeDue({ slots }) {
      const wanted = slots.seats ?? 0
      claims.push(wanted)
      const taken = Math.min(wanted, left)
      left -= taken
      return Array.from({ length: taken }, (_, index) => ended(`eff_${left + index}`))
    },
    settle: ({ expectedVersion }) =>
      new Promise<Settled>((resolve) => {
        inWork.push(() => resolve({ kind: 'settled', version: expectedVersion + 1 }))
      }),
    renew: async () => {},
  }
  const dispatcher = new Dispatcher(
    { store, clock, random: seededRandom(1), log: () => {} } as unknown as EffectPorts,
    {
      worker: 'wrk_1' as WorkerId,
      leaseMs: 10_000,
      recipients: new Map([
        ['seats', recipient('seats', { url: 'http://seats.test', contract: {}, concurrency })],
      ]),
      owner: 'operators',
      lookAgain: () => {},
    },
  )
  dispatcher.start()
  return {
    clock,
    claims,
    dispatcher,
    more(count: number) {
      left += count
    },
    /** That many effects end. */
    async settle(count: number) {
      for (const end of inWork.splice(0, count)) end()
      for (let turns = 0; turns < 5; turns++) await turn()
    },
  }
}

function ended(id: string): DueWork {
  const effect = { id, recipient: 'seats', state: 'attempting', version: 2, attempts: [], evidence: [] }
  return { kind: 'attention', effect: effect as unknown as EffectView }
}

describe('taking effects that are due', () => {
  test('all free places are filled at once', async () => {
    const { claims, dispatcher } = world(100)
    dispatcher.wake()
    await turn()
    assert.deepEqual(claims, [16])
  })

  test('a place that comes free waits until a quarter of them are free: a claim is a commit', async () => {
    const { claims, dispatcher, settle } = world(100)
    dispatcher.wake()
    await turn()
    await settle(3)
    assert.deepEqual(claims, [16])
    await settle(1)
    assert.deepEqual(claims, [16, 4])
  })

  test('but not longer than a moment, while slow effects keep the others', async () => {
    const { clock, claims, dispatcher, settle } = world(100)
    dispatcher.wake()
    await turn()
    await settle(1)
    clock.step(5)
    await turn()
    assert.deepEqual(claims, [16, 1])
  })

  test('the store is not asked again at the end of an effect when it had nothing more', async () => {
    const { claims, dispatcher, settle } = world(5)
    dispatcher.wake()
    await turn()
    await settle(5)
    assert.deepEqual(claims, [16])
  })

  test('a hint that came while no place was free is not forgotten', async () => {
    const { claims, dispatcher, more, settle } = world(16)
    dispatcher.wake()
    await turn()
    more(2)
    dispatcher.wake()
    await settle(4)
    assert.deepEqual(claims, [16, 4])
  })

  test('the poll takes for a single place', async () => {
    const { claims, dispatcher, settle } = world(100)
    dispatcher.wake()
    await turn()
    await settle(1)
    await dispatcher.take()
    assert.deepEqual(claims, [16, 1])
  })
})
