import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { z } from 'zod'
import type { ReceiptId, ReceivedEvent, WorkerId } from '../domain/index.ts'
import { noTracing } from '../domain/index.ts'
import { recipient } from '../recipients/index.ts'
import type { EffectWork, NewQuarantine, Plan, PlanSession, Store } from '../store/index.ts'
import { seededRandom, VirtualClock } from '../testing/index.ts'
import type { FirstPlaces } from './first-attempts.ts'
import { planEvent, planRetriesMs } from './planner.ts'
import { type Trigger, trigger } from './trigger.ts'

// The store's own part of planning is in its conformance suite; here is what the planner asks of it.

const seats = recipient('seats', {
  url: 'http://seats.test',
  contract: {
    idempotency: {
      header: 'Idempotency-Key',
      remembersFor: '24h',
      otherPayload: 'refused',
      replays: 'first-success',
    },
  },
})
const openSeat = seats.effect('seat.open', {
  payload: z.object({ seat: z.string() }),
  request: ({ seat }) => ({ method: 'PUT', path: `/seats/${seat}` }),
})
const elsewhere = recipient('elsewhere', { url: 'http://else.test', contract: {} }).effect('x', {
  payload: z.object({ seat: z.string() }),
  request: () => ({ method: 'POST', path: '/' }),
})
const on = { producer: { name: 'standard' }, type: 'invoice.paid', version: undefined, schema: undefined }

const event: ReceivedEvent = {
  receipt: 'rcp_1' as ReceiptId,
  producer: 'standard',
  source: 'standard-webhooks',
  id: 'msg_1',
  type: 'invoice.paid',
  version: null,
  at: null,
  receivedAt: 0,
  origin: 'live',
  fingerprint: 'jcs-sha256:00' as ReceivedEvent['fingerprint'],
  data: { id: '481' },
}

const worker = 'wrk_1' as WorkerId
const noPlaces: FirstPlaces = { worker, leaseMs: 10_000, reserve: () => null, run: () => assert.fail() }

/** A recipient with that many places. */
function places(free: number) {
  const ran: EffectWork[] = []
  const seen = { free, ran }
  const reserve = () => {
    if (seen.free === 0) return null
    seen.free--
    return { callEnded: () => {}, leave: () => void seen.free++ }
  }
  const run = (work: EffectWork) => void ran.push(work)
  return { ...noPlaces, seen, reserve, run }
}

/** Records what it is asked; answers as an empty store does. */
function recordingStore(clock: VirtualClock, openAfterMs = 0) {
  const plans: Plan[] = []
  const postponed: { at: number; error: string }[] = []
  const quarantined: NewQuarantine[] = []
  let rolledBack = 0
  const commit = async (plan: Plan) => {
    plans.push(plan)
    return { kind: 'planned' as const, effects: plan.effects.map(({ id }) => ({ id, created: true })) }
  }
  const session: PlanSession = {
    run: async () => ({ changes: 1 }),
    get: async () => undefined,
    all: async () => [],
    commit,
    rollback: async () => void rolledBack++,
  }
  const store: Pick<Store, 'plan' | 'beginPlan' | 'postponePlan' | 'quarantinePlan'> = {
    plan: commit,
    beginPlan: () => new Promise((resolve) => clock.after(openAfterMs, () => resolve(session))),
    postponePlan: async (record) => void postponed.push(record),
    quarantinePlan: async ({ quarantine }) => void quarantined.push(quarantine),
  }
  return { store: store as Store, plans, postponed, quarantined, rolledBack: () => rolledBack }
}

async function plan(
  triggers: readonly Trigger[],
  about: { tries?: number; origin?: string; openAfterMs?: number; runMs?: number; places?: FirstPlaces } = {},
) {
  const clock = new VirtualClock(0)
  const seen = recordingStore(clock, about.openAfterMs)
  const vault = { seal: (payload: Uint8Array) => ({ keyId: 'k', nonce: payload, ciphertext: payload }) }
  const ports = {
    store: seen.store,
    vault: vault as never,
    clock,
    random: seededRandom(1),
    log: () => {},
    tracing: noTracing,
  }
  const settings = {
    triggers,
    recipients: new Map([['seats', seats]]),
    ownerOf: () => 'team',
    plannedBy: 'v1',
    planTimeoutMs: 5_000,
    firstPlaces: about.places ?? noPlaces,
  }
  let planned: readonly string[] | undefined
  const done = planEvent(ports as never, settings as never, {
    outbox: 1,
    tries: about.tries ?? 0,
    event: { ...event, origin: about.origin ?? event.origin },
    trace: null,
  }).then((result) => {
    planned = result
  })
  for (let turns = 0; turns < 200; turns++) {
    await new Promise((resolve) => setImmediate(resolve))
    if (planned === undefined) clock.step(about.runMs ?? 60_000)
  }
  await done
  return { ...seen, planned }
}

describe('a trigger', () => {
  test('plans its effects with a key of their own, and no transaction is begun for one that writes nothing', async () => {
    const seen = await plan([
      trigger('t', {
        on,
        plan: (_, { effect }) => effect(openSeat, { key: 'invoice/481/seat', payload: { seat: '1' } }),
      }),
    ])
    assert.deepEqual(seen.planned, ['seats'])
    assert.deepEqual(
      seen.plans[0]?.effects.map(({ recipient, key, name, trigger }) => [recipient, key, name, trigger]),
      [['seats', 'invoice/481/seat', 'seat.open', 't']],
    )
    assert.match(seen.plans[0]?.effects[0]?.idempotencyKey ?? '', /^cf_/)
    assert.equal(seen.plans[0]?.plannedBy, 'v1')
  })

  test('of a backfilled event plans effects that wait behind those of live ones', async () => {
    const one = trigger('t', {
      on,
      plan: (_, { effect }) => effect(openSeat, { key: 'invoice/481/seat', payload: { seat: '1' } }),
    })
    const planned = async (origin: string) => (await plan([one], { origin })).plans[0]?.effects[0]
    assert.equal((await planned('backfill/march'))?.behind, true)
    assert.equal((await planned('live'))?.behind, undefined)
  })

  test('whose condition does not hold plans nothing, and the receipt is planned all the same', async () => {
    const seen = await plan([trigger('t', { on, when: () => false, plan: () => assert.fail('not asked') })])
    assert.deepEqual([seen.planned, seen.plans[0]?.effects], [[], []])
  })

  test('that throws is tried again later, and goes to quarantine with its error after the last try', async () => {
    const broken = trigger('t', {
      on,
      plan: () => {
        throw new Error('no such customer')
      },
    })
    const first = await plan([broken])
    assert.deepEqual(
      first.postponed.map(({ at, error }) => [at, error]),
      [[planRetriesMs[0], 'no such customer']],
    )
    const last = await plan([broken], { tries: planRetriesMs.length })
    assert.deepEqual(
      last.quarantined.map(({ reason, detail, owner }) => [reason, detail, owner]),
      [['plan-failed', { error: 'no such customer', tries: planRetriesMs.length + 1 }, 'team']],
    )
    assert.deepEqual(last.plans, [])
  })

  test('that does not finish is stopped by the clock, and its transaction is rolled back', async () => {
    const seen = await plan([
      trigger('t', {
        on,
        plan: async (_, { tx }) => {
          await tx.run('select 1')
          await new Promise(() => {})
        },
      }),
    ])
    assert.match(seen.postponed[0]?.error ?? '', /^trigger_timeout/)
    assert.equal(seen.rolledBack(), 1)
  })

  test('is not blamed for the time it waits for the store behind others', async () => {
    const seen = await plan(
      [trigger('t', { on, plan: async (_, { tx }) => void (await tx.run('select 1')) })],
      { openAfterMs: 12_000 },
    )
    assert.deepEqual([seen.plans.length, seen.postponed], [1, []])
  })

  test('is told in words when a payload does not fit, a key is none, or a recipient is not configured', async () => {
    const mistakes: [Trigger['plan'], RegExp][] = [
      [
        (_, { effect }) => effect(openSeat, { key: 'k', payload: { seat: 1 as never } }),
        /^effect_payload_invalid: .*\/seat/,
      ],
      [(_, { effect }) => effect(openSeat, { key: '', payload: { seat: '1' } }), /^effect_key_invalid/],
      [
        (_, { effect }) => effect(elsewhere, { key: 'k', payload: { seat: '1' } }),
        /^effect_unknown: .*'elsewhere'/,
      ],
      [
        (_, { effect }) =>
          effect(
            openSeat as never,
            { key: 'k', payload: { seat: '1' }, order: { domain: 'd', version: 1 } } as never,
          ),
        /^order_without_fence/,
      ],
    ]
    for (const [mistake, told] of mistakes) {
      const seen = await plan([trigger('t', { on, plan: mistake })])
      assert.match(seen.postponed[0]?.error ?? '', told)
      assert.deepEqual(seen.plans, [])
    }
  })
})

describe('an effect whose recipient has a place free', () => {
  const two = trigger('t', {
    on,
    plan: (_, { effect }) => {
      effect(openSeat, { key: 'invoice/481/seat', payload: { seat: '1' } })
      effect(openSeat, { key: 'invoice/481/second', payload: { seat: '2' } })
    },
  })

  test('is begun in the commit of its plan and runs; the others are due', async () => {
    const one = places(1)
    const { plans, planned } = await plan([two], { places: one })
    const [first, second] = plans[0]!.effects
    assert.deepEqual([first?.begin, second?.begin], [{ worker, leaseMs: 10_000 }, undefined])
    assert.deepEqual(planned, ['seats'])
    const [work, ...more] = one.seen.ran
    assert.deepEqual(more, [])
    assert.deepEqual(
      [work?.effect.id, work?.effect.state, work?.effect.version, work?.attempt, work?.effect.dueAt],
      [first?.id, 'attempting', 2, 1, first!.plannedAt + 10_000],
    )
    assert.deepEqual(work?.request, first?.request)
  })

  test('gives its place back when the plan does not come about', async () => {
    const free = places(2)
    const failing = trigger('late', { on, plan: () => assert.fail('planted') })
    await plan([two, failing], { places: free })
    assert.deepEqual([free.seen.free, free.seen.ran], [2, []])
    const unknown = trigger('u', {
      on,
      plan: (_, { effect }) => effect(elsewhere, { key: 'k', payload: { seat: '1' } }),
    })
    await plan([two, unknown], { places: free })
    assert.deepEqual([free.seen.free, free.seen.ran], [2, []])
  })
})
