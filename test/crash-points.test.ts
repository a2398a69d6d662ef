import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { crashableCalls, type StoreFault } from 'counterfoil/testing'
import { contracts, type Shape, World } from './world.ts'

/**
 * A process dies at each durable step, before it and after it; another starts on the same file; the sender
 * sends again what was not acknowledged. Afterwards all invariants hold.
 */

const hour = 3_600_000

async function livesOn(shape: Shape, first: Parameters<World['start']>[0]): Promise<World> {
  const world = new World({ shape })
  await world.start(first)
  const answer = await world.deliver('481')
  await world.run(10 * 60_000)
  if (!world.process.alive) {
    await world.kill()
    await world.start()
  }
  // What a sender does that got no 2xx; and at least once is what it promises anyway.
  const again = await world.deliver('481')
  assert.equal(again?.status, answer?.status === 202 ? 200 : again?.status)
  await world.run(hour)
  return world
}

for (const shape of Object.keys(contracts) as Shape[]) {
  describe(`at a recipient that is ${shape}`, () => {
    for (const call of crashableCalls) {
      for (const when of ['before', 'after'] as const) {
        test(`a crash ${when} '${call}' loses nothing and repeats nothing`, async () => {
          const world = await livesOn(shape, { store: { kind: 'crash', call, when } })
          assert.deepEqual(await world.violations(), [])
          assert.ok(world.recipient.acts.length <= 1)
          if (shape !== 'neither') assert.equal(world.recipient.acts.length, 1)
          await world.dispose()
        })
      }
      for (const committed of [true, false]) {
        test(`an unknown commit of '${call}' (${committed ? 'it did' : 'it did not'}) loses nothing and repeats nothing`, async () => {
          const fault: StoreFault = { kind: 'commit-unknown', call, committed }
          const world = await livesOn(shape, { store: fault })
          assert.deepEqual(await world.violations(), [])
          assert.ok(world.recipient.acts.length <= 1)
          await world.dispose()
        })
      }
    }

    test('a crash after the recipient acted and before its answer was read leads to one act', async () => {
      const world = await livesOn(shape, { dieAfterAnswers: 1 })
      assert.equal(world.recipient.acts.length, 1)
      assert.deepEqual(await world.violations(), [])
      const [effect] = await world.app.store.listEffects({ limit: 1 })
      assert.equal(effect?.state, shape === 'neither' ? 'unknown' : 'confirmed')
      await world.dispose()
    })
  })
}
