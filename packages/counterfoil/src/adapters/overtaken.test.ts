import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isOvertaken } from './overtaken.ts'

test('a serialization failure is found however it is wrapped, and nothing else is taken for one', () => {
  const failure = Object.assign(new Error('could not serialize access'), { code: '40001' })
  const deadlock = Object.assign(new Error('deadlock detected'), { code: '40P01' })
  const yes: unknown[] = [
    failure,
    deadlock,
    new Error('query failed', { cause: failure }),
    Object.assign(new Error('query failed'), { driverError: deadlock }),
    Object.assign(new Error('write conflict'), { code: 'P2034' }),
  ]
  const circle: { cause?: unknown } = {}
  circle.cause = circle
  const no: unknown[] = [
    null,
    undefined,
    '40001',
    new Error('40001'),
    { code: '23505' },
    new Error('query failed', { cause: new Error('no connection') }),
    circle,
  ]
  for (const error of yes) assert.equal(isOvertaken(error), true, String(error))
  for (const error of no) assert.equal(isOvertaken(error), false)
})
