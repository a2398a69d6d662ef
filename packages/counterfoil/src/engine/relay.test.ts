import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Relay } from './relay.ts'

test('a hint that comes during a claim is followed by another claim, and many of them by one', async () => {
  const claims: ((records: readonly []) => void)[] = []
  const store = { claimOutbox: () => new Promise((resolve) => claims.push(resolve)) }
  const clock = { now: () => 0, after: () => () => {} }
  const relay = new Relay(
    { store, clock, log: assert.fail } as never,
    { worker: 'wrk', leaseMs: 1_000 } as never,
  )
  relay.start()
  void relay.poll()
  // What these tell of may have come too late for the claim that is on its way.
  for (let hint = 0; hint < 3; hint++) void relay.poll()
  assert.equal(claims.length, 1)
  claims[0]!([])
  await nextTurn()
  assert.equal(claims.length, 2)
  claims[1]!([])
  await nextTurn()
  assert.equal(claims.length, 2)
})
