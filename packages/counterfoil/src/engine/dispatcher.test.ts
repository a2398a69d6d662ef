import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { WorkerId } from '../domain/index.ts'
import { noTracing } from '../domain/index.ts'
import { type Recipient, recipient } from '../recipients/index.ts'
import type { DueWork, EffectView, Sealed, Settled, Store } from '../store/index.ts'
import { seededRandom, VirtualClock } from '../testing/index.ts'
import { Dispatcher } from './dispatcher.ts'
import type { EffectPorts } from './effects.ts'
import { heldPerCall } from './places.ts'

const concurrency = 16

/** A store that has effects whose lease ended, or others; each is in work until the test settles it. */
function world(
  due: number,
  make: (id: string) => DueWork = ended,
  places = concurrency,
  others: readonly Recipient[] = [],
) {
  const clock = new VirtualClock(0)
  const claims: number[] = []
  /** Effects in work at each claim. */
  const meanwhile: number[] = []
  const inWork: (() => void)[] = []
  const renewals: number[] = []
  let left = due
  const store: Pick<Store, 'takeDue' | 'settle' | 'renew'> = {
    async takeDue({ slots }) {
      const wanted = slots.seats ?? 0
      claims.push(wanted)
      meanwhile.push(inWork.length)
      const taken = Math.min(wanted, left)
      left -= taken
      return Array.from({ length: taken }, (_, index) => make(`eff_${left + index}`))
    },
    settle: ({ expectedVersion }) =>
      new Promise<Settled>((resolve) => {
        inWork.push(() => resolve({ kind: 'settled', version: expectedVersion + 1 }))
      }),
    renew: async ({ effects }) => void renewals.push(effects.length),
  }
  const dispatcher = new Dispatcher(
    {
      store,
      clock,
      vault: unreadable,
      random: seededRandom(1),
      log: () => {},
      tracing: noTracing,
    } as unknown as EffectPorts,
    {
      worker: 'wrk_1' as WorkerId,
      leaseMs: 10_000,
      recipients: new Map<string, Recipient>([
        ['seats', recipient('seats', { url: 'http://seats.test', contract: {}, concurrency: places })],
        ...others.map((other) => [other.name, other] as const),
      ]),
      owner: 'operators',
      lookAgain: () => {},
    },
  )
  dispatcher.start()
  return {
    clock,
    claims,
    meanwhile,
    renewals,
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

const unreadable = {
  open() {
    throw new Error('the key is gone')
  },
}

/** An attempt whose call is over at once: nothing can be sent. */
function begun(id: string): DueWork {
  const attempt = { number: 1, begunAt: 0, endedAt: null, outcome: null, open: true, why: null, status: null }
  const effect = {
    id,
    recipient: 'seats',
    state: 'attempting',
    version: 2,
    attempts: [attempt],
    evidence: [],
  }
  return { kind: 'attempt', effect: effect as unknown as EffectView, attempt: 1, request: {} as Sealed }
}

describe('taking effects that are due', () => {
  test('all free places are filled at once', async () => {
    const { claims, dispatcher } = world(100)
    dispatcher.wake()
    await turn()
    assert.deepEqual(claims, [16])
  })

  test('many places are filled in halves: the second is asked for before the first is worked on', async () => {
    const { claims, meanwhile, dispatcher } = world(100, ended, 40)
    dispatcher.wake()
    await turn()
    assert.deepEqual(claims, [20, 20])
    assert.deepEqual(meanwhile, [0, 0])
  })

  test('one that is behind and must not be called makes nobody look again and again for another', async () => {
    const off = { ...recipient('off', { url: 'http://off.test', contract: {} }), isOff: () => true }
    const { claims, dispatcher } = world(0, ended, concurrency, [off])
    dispatcher.wake()
    for (let turns = 0; turns < 50; turns++) await turn()
    assert.deepEqual(claims, [16])
  })

  test('a place that comes free waits until half of them are free: a claim is a commit', async () => {
    const { claims, dispatcher, settle } = world(100)
    dispatcher.wake()
    await turn()
    await settle(7)
    assert.deepEqual(claims, [16])
    await settle(1)
    assert.deepEqual(claims, [16, 8])
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

  test('leases are renewed while something is in flight, and otherwise nothing wakes up', async () => {
    const { clock, renewals, dispatcher, more, settle } = world(2)
    assert.equal(clock.step(), false)
    dispatcher.wake()
    await turn()
    for (const at of [3_333, 6_666]) {
      assert.ok(clock.step())
      assert.equal(clock.now(), at)
      await turn()
    }
    await settle(1)
    assert.ok(clock.step())
    await settle(1)
    assert.ok(clock.step())
    assert.deepEqual(renewals, [2, 2, 1])
    assert.equal(clock.step(), false)
    more(1)
    dispatcher.wake()
    await turn()
    assert.ok(clock.step())
    assert.deepEqual(renewals, [2, 2, 1, 1])
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
    await settle(8)
    assert.deepEqual(claims, [16, 8])
  })

  test('the poll takes for a single place', async () => {
    const { claims, dispatcher, settle } = world(100)
    dispatcher.wake()
    await turn()
    await settle(1)
    await dispatcher.take()
    assert.deepEqual(claims, [16, 1])
  })

  test('what was answered and is still to be settled keeps no place, up to a limit', async () => {
    const { clock, claims, dispatcher, settle } = world(1_000, begun)
    dispatcher.wake()
    await settle(0)
    clock.step(5)
    await settle(0)
    const taken = () => claims.reduce((sum, claim) => sum + claim, 0)
    assert.equal(taken(), heldPerCall * concurrency)
    await settle(8)
    assert.equal(taken(), heldPerCall * concurrency + 8)
  })
})

describe('a place for an effect that is about to be planned', () => {
  test('is one of its recipient’s places, until it is left', async () => {
    const { dispatcher } = world(0)
    const kept = Array.from({ length: concurrency }, () => dispatcher.reserve('seats'))
    assert.ok(kept.every((place) => place !== null))
    assert.equal(dispatcher.reserve('seats'), null)
    kept[0]!.leave()
    assert.notEqual(dispatcher.reserve('seats'), null)
    assert.equal(dispatcher.reserve('nobody'), null)
  })

  test('is never one that a claim under way has asked for, and is free again for what the claim did not find', async () => {
    const { dispatcher } = world(10)
    dispatcher.wake()
    assert.equal(dispatcher.reserve('seats'), null)
    await turn()
    const places = Array.from({ length: concurrency }, () => dispatcher.reserve('seats'))
    assert.equal(places.filter((place) => place !== null).length, concurrency - 10)
  })

  test('that a claim under way had kept is claimed at once for what was planned meanwhile', async () => {
    const { claims, dispatcher, more } = world(0)
    const claim = dispatcher.take()
    more(1)
    dispatcher.wake(['seats'])
    await claim
    await turn()
    assert.deepEqual(claims, [16, 16])
  })

  test('is not given while effects wait that were planned before: they go first', async () => {
    const { dispatcher, settle } = world(concurrency * 2)
    await dispatcher.take()
    await settle(4)
    // Four places are free again, and sixteen effects wait.
    assert.equal(dispatcher.reserve('seats'), null)
  })
})
