import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { whenAborted } from './stopping.ts'

test('all that wait for one signal are stopped by it, through one listener, but for those that took it back', () => {
  const process = new AbortController()
  const stopped: number[] = []
  const goOn = Array.from({ length: 500 }, (_, n) => whenAborted(process.signal, () => stopped.push(n)))
  assert.equal(getEventListeners(process.signal, 'abort').length, 1)
  for (const [n, one] of goOn.entries()) if (n !== 3 && n !== 499) one()
  process.abort()
  assert.deepEqual(stopped, [3, 499])
})

test('what is stopped may take itself back meanwhile, and another with it', () => {
  const process = new AbortController()
  const stopped: string[] = []
  const first = whenAborted(process.signal, () => {
    stopped.push('first')
    first()
    second()
  })
  const second = whenAborted(process.signal, () => stopped.push('second'))
  process.abort()
  assert.deepEqual(stopped, ['first'])
})

test('signals are apart', () => {
  const [one, other] = [new AbortController(), new AbortController()]
  const stopped: string[] = []
  whenAborted(one.signal, () => stopped.push('one'))
  whenAborted(other.signal, () => stopped.push('other'))
  other.abort()
  assert.deepEqual(stopped, ['other'])
})
