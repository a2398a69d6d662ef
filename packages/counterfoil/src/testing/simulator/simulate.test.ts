import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
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

test('nothing of a schedule is kept when it is over, or a long run would end for want of memory', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const play = async (from: number) => {
    for (let seed = from; seed < from + 40; seed++) await simulate(seed)
    collect()
    return process.memoryUsage().heapUsed
  }
  const before = await play(0)
  const grown = (await play(40)) - before
  // A schedule's processes, with all that they held, are more than 100 kB.
  assert.ok(grown < 40 * 50_000, `${Math.round(grown / 40)} bytes a schedule`)
})
