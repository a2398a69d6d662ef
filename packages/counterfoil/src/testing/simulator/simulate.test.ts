import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { simulate } from '../index.ts'

function digestOf(history: unknown): string {
  return hash(
    'sha256',
    JSON.stringify(history, (_, value) => (value instanceof Map ? [...value] : value)),
  )
}

test('the same seed replays exactly, to the last id and millisecond, whatever ran before it', async () => {
  for (const seed of [1, 2, 3, 17]) {
    const first = await simulate(seed)
    await simulate(seed + 1_000)
    const again = await simulate(seed)
    assert.equal(digestOf(again.history), digestOf(first.history), `seed ${seed}`)
    assert.deepEqual(again.faults, first.faults)
    assert.ok(first.faults.length > 0 && first.history.entries.length > 10)
  }
})
