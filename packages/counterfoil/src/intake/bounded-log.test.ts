import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../testing/virtual-clock.ts'
import { boundedLog } from './bounded-log.ts'

test('a flood is ten lines a second, and the next line tells what was left out', () => {
  const clock = new VirtualClock()
  const lines: unknown[] = []
  const log = boundedLog((_, __, fields) => lines.push(fields), clock)
  for (let index = 0; index < 1_000; index++) log('warn', 'refused', { index })
  assert.equal(lines.length, 10)
  clock.jump(1_000)
  log('warn', 'refused', { index: 1_000 })
  log('warn', 'refused', { index: 1_001 })
  assert.deepEqual(lines.slice(10), [{ index: 1_000, leftOut: 990 }, { index: 1_001 }])
})
