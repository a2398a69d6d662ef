import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { disposeWorlds, World } from './world.ts'

afterEach(disposeWorlds)

const minute = 60_000
const first = (fault: 'slow-answer') => (_: unknown, count: number) => (count === 0 ? fault : 'none')

async function effectOf(world: World) {
  const [effect] = await world.app.store.listEffects({ limit: 1 })
  assert.ok(effect)
  return effect
}

test('a lease is renewed while its attempt lives: a slow recipient gets one request, and no lease ends (C03)', async () => {
  // The lease is 10 s, the answer takes 15 s, and the time-out is 30 s.
  const world = new World({ shape: 'idempotent', network: first('slow-answer'), timeout: '30s' })
  await world.start()
  await world.deliver('481')
  await world.settle(5 * minute)
  const effect = await effectOf(world)
  assert.deepEqual([effect.state, effect.attempts.length, effect.evidence], ['confirmed', 1, []])
  assert.equal(world.recipient.sent.length, 1)
  assert.deepEqual(await world.violations(), [])
})

test('a deployment waits for the attempt in flight and loses nothing (C32)', async () => {
  const world = new World({
    shape: 'neither',
    network: (_, count) => (count === 0 ? 'slow-answer' : 'none'),
    timeout: '30s',
    slowMs: 5_000,
  })
  await world.start()
  await world.deliver('481')
  await world.run(minute, () => world.recipient.sent.length === 1)
  await world.stop()
  await world.start()
  const effect = await effectOf(world)
  assert.deepEqual([effect.state, effect.attempts.length], ['confirmed', 1])
  assert.deepEqual(await world.violations(), [])
})

test('what does not end within the drain limit is cut off and unknown, not lost and not repeated (C32)', async () => {
  const world = new World({ shape: 'neither', network: first('slow-answer'), timeout: '60s' })
  await world.start()
  await world.deliver('481')
  await world.run(minute, () => world.recipient.sent.length === 1)
  await world.stop()
  await world.start()
  await world.settle(5 * minute)
  const effect = await effectOf(world)
  assert.equal(effect.state, 'unknown')
  assert.equal(world.recipient.acts.length, 1)
  assert.deepEqual(await world.violations(), [])
})
