import { test } from 'node:test'
import { z } from 'zod'
import { recipient } from '../recipients/index.ts'
import type { PlanContext } from './index.ts'

// Nothing runs here: the compiler is the test. Each `@ts-expect-error` fails to compile when the mistake it
// stands over is accepted.

const key = {
  header: 'Idempotency-Key',
  remembersFor: '24h',
  otherPayload: 'refused',
  replays: 'first-success',
} as const
const fenced = recipient('fenced', {
  url: 'http://a.test',
  contract: { idempotency: key, ordering: { fence: { header: 'Fence-Version', rejectedWith: 412 } } },
})
const unfenced = recipient('unfenced', { url: 'http://b.test', contract: { idempotency: key } })
const closing = recipient('closing', {
  url: 'http://c.test',
  contract: { idempotency: key, ordering: { tombstone: { method: 'PUT', path: '/{key}' } } },
})
const byCall = recipient('by-call', { contract: { idempotency: key }, call: async () => ({}) })
const about = {
  payload: z.object({ seat: z.string() }),
  request: (p: { seat: string }) => ({ method: 'PUT', path: `/seats/${p.seat}` }),
}
const ordered = fenced.effect('seat.open', about)
const unordered = unfenced.effect('seat.open', about)
const closable = closing.effect('seat.open', about)
const called = byCall.effect('seat.open', about)

function plans({ effect }: PlanContext): void {
  const plan = { key: 'seat/1', payload: { seat: '1' } }
  const order = { domain: 'seat/1', version: 1 }
  effect(ordered, { ...plan, order })
  effect(ordered, plan)
  effect(unordered, plan)
  // @ts-expect-error order is claimed at a recipient that compares no versions
  effect(unordered, { ...plan, order })
  // @ts-expect-error a tombstone compares no versions
  effect(closable, { ...plan, order })
  // @ts-expect-error nor does a function without a fence
  effect(called, { ...plan, order })
  // @ts-expect-error a payload of another shape
  effect(unordered, { key: 'seat/1', payload: { seats: 1 } })
  // @ts-expect-error there is no way to give an idempotency key of one's own
  effect(unordered, { ...plan, idempotencyKey: 'fresh' })
  // @ts-expect-error an effect has a key
  effect(unordered, { payload: { seat: '1' } })
}

test('order without a fence, and a key of one’s own, do not compile', () => {
  void plans
})
