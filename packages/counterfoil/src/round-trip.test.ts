import assert from 'node:assert/strict'
import { test } from 'node:test'
import { counterfoil } from './counterfoil.ts'
import { RoundTrip } from './round-trip.ts'
import type { EffectStory } from './store/index.ts'
import { MemoryDatabase } from './store/sqlite/index.ts'
import { seededRandom, VirtualClock } from './testing/index.ts'

test('an event of our own goes from its receipt to a confirmed effect, by the ways that live events go', async () => {
  const database = new MemoryDatabase()
  const { store } = database.handle()
  process.env.COUNTERFOIL_VAULT_KEYS ??= `test:${Buffer.alloc(32, 7).toString('base64')}`
  const app = counterfoil({ store, triggers: [], recipients: [], roundTrip: { every: '1s' }, retention: {} })
  await app.start()
  try {
    assert.equal(app.roundTripMs(), null)
    const arrived = async () =>
      (await store.listEffects({ recipient: 'counterfoil/round-trip', state: 'confirmed', limit: 9 }))[0]
    while ((await arrived()) === undefined) await new Promise((resolve) => setTimeout(resolve, 50))
    const effect = (await arrived())!
    assert.equal(typeof app.roundTripMs(), 'number')
    const [story] = await store.showEffects(effect.id)
    assert.equal(story?.causes[0]?.producer, 'counterfoil/round-trip')
    // It counts as no horizon of the program's own events.
    assert.deepEqual(app.retention?.producers, [])
  } finally {
    await app.stop()
    database.close()
  }
})

test('one that does not come back is told by how long it is under way', async () => {
  const clock = new VirtualClock(0)
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  let arrives = true
  const trip = new RoundTrip(60_000)
  const store = {
    showEffects: async () =>
      arrives
        ? [{ effect: { state: 'confirmed', changedAt: clock.now() + 40 } } as unknown as EffectStory]
        : [],
  }
  const accept = async () => ({ outcome: 'accepted' }) as never
  const periodic = trip.start({ store, clock, random: seededRandom(1), log: () => {}, accept })
  const pass = async (ms: number) => {
    for (const until = clock.now() + ms; clock.step(until); ) await turn()
  }
  assert.equal(trip.msAt(clock.now()), null)
  await pass(61_000)
  assert.equal(trip.msAt(clock.now()), 40)
  arrives = false
  await pass(120_000)
  assert.ok(trip.msAt(clock.now())! >= 60_000)
  arrives = true
  await pass(120_000)
  assert.equal(trip.msAt(clock.now()), 40)
  clock.step(clock.now() + 1)
  await periodic.stop()
})

test('it is not made so often that it weighs on the store', () => {
  assert.throws(() => new RoundTrip(999), { code: 'config_invalid' })
})
