import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WorkerId } from '../domain/index.ts'
import type { OutboxRenewal, Store } from '../store/index.ts'
import { VirtualClock } from '../testing/index.ts'
import { HeldRecords, maxPlanning } from './held-records.ts'

const worker = 'wrk_1' as WorkerId
const leaseMs = 9_000

function world() {
  const clock = new VirtualClock(0)
  const renewals: OutboxRenewal[] = []
  const store: Pick<Store, 'renewOutbox'> = { renewOutbox: async (renewal) => void renewals.push(renewal) }
  const ports = { clock, store: store as Store, log: () => {} }
  const held = new HeldRecords(ports, { worker, leaseMs, onDone: () => {} })
  const running = new Map<number, () => void>()
  const hold = (outbox: number, alone = false) =>
    held.hold({ outbox, alone, handOn: () => new Promise((resolve) => running.set(outbox, resolve)) })
  const end = async (outbox: number) => {
    running.get(outbox)?.()
    running.delete(outbox)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { clock, renewals, held, hold, end, running: () => [...running.keys()] }
}

test('records are handed on in the order they came, so many at once', async () => {
  const { hold, end, running } = world()
  for (let outbox = 1; outbox <= maxPlanning + 1; outbox++) hold(outbox)
  assert.equal(running().length, maxPlanning)
  await end(7)
  assert.equal(running().at(-1), maxPlanning + 1)
})

test('one that is planned alone waits for those before it, and those after it wait for it', async () => {
  const { hold, end, running } = world()
  hold(1)
  hold(2, true)
  hold(3, true)
  hold(4)
  hold(5)
  assert.deepEqual(running(), [1])
  await end(1)
  assert.deepEqual(running(), [2])
  await end(2)
  assert.deepEqual(running(), [3])
  await end(3)
  assert.deepEqual(running(), [4, 5])
})

test('what waits or is in work keeps its lease, and what is done or an alert is not renewed', async () => {
  const { clock, renewals, hold, end } = world()
  for (const outbox of [3, -8, 1, 2]) hold(outbox)
  await end(2)
  clock.step(leaseMs)
  assert.deepEqual(renewals, [{ worker, outbox: [1, 3], now: leaseMs / 3, leaseMs }])
  for (const outbox of [3, -8, 1]) await end(outbox)
  clock.step(leaseMs * 2)
  assert.equal(renewals.length, 1)
  hold(4)
  clock.step(leaseMs)
  assert.deepEqual(renewals[1]?.outbox, [4])
})

test('a record that is claimed again while it is held is not handed on twice', async () => {
  const { hold, end, running } = world()
  hold(1)
  hold(1)
  await end(1)
  assert.deepEqual(running(), [])
  hold(1)
  assert.deepEqual(running(), [1])
})

test('what is let go of is neither handed on nor renewed', async () => {
  const { clock, renewals, held, hold, end, running } = world()
  hold(1, true)
  hold(2)
  held.drop()
  await end(1)
  clock.step(leaseMs * 2)
  assert.deepEqual([running(), renewals, held.waiting, held.inWork], [[], [], 0, 0])
})
