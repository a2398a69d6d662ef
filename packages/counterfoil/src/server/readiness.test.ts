import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Counterfoil } from '../counterfoil.ts'
import { readiness } from './readiness.ts'

function program() {
  const state = { now: 0, running: true, writable: true, waiting: 0, probes: 0 }
  const app = {
    get running() {
      return state.running
    },
    clock: { now: () => state.now },
    maxBacklog: 10,
    roundTripMs: () => null,
    store: {
      probe: async () => {
        state.probes++
        if (!state.writable) throw new Error('the disk is full')
      },
      backlog: async () => state.waiting,
    },
  }
  return { state, ask: readiness(app as unknown as Counterfoil) }
}

test('is ready when it runs, the store takes a commit and the backlog is under its limit', async () => {
  const { ask } = program()
  assert.deepEqual(await ask(), { ready: true, checks: { running: true, store: true, backlog: true } })
})

test('says which of them does not hold', async () => {
  for (const [change, check] of [
    [{ running: false }, 'running'],
    [{ writable: false }, 'store'],
    [{ waiting: 10 }, 'backlog'],
  ] as const) {
    const { ask, state } = program()
    Object.assign(state, change)
    const { ready, checks } = await ask()
    assert.equal(ready, false)
    assert.deepEqual(
      Object.entries(checks).filter(([, holds]) => !holds),
      [[check, false]],
    )
  }
})

test('an answer stands for a second, but not once the process drains', async () => {
  const { ask, state } = program()
  await Promise.all([ask(), ask()])
  state.now = 999
  await ask()
  assert.equal(state.probes, 1)
  state.now = 1_000
  await ask()
  assert.equal(state.probes, 2)
  state.running = false
  assert.equal((await ask()).ready, false)
})
