import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isOvertaken, sqlState, withSqlState } from './sql-state.ts'

test('a serialization failure is found however it is wrapped, and nothing else is taken for one', () => {
  const failure = Object.assign(new Error('could not serialize access'), { code: '40001' })
  const deadlock = Object.assign(new Error('deadlock detected'), { code: '40P01' })
  const yes: unknown[] = [
    failure,
    deadlock,
    new Error('query failed', { cause: failure }),
    Object.assign(new Error('query failed'), { driverError: deadlock }),
    Object.assign(new Error('write conflict'), { code: 'P2034' }),
    Object.assign(new Error('raw query failed'), {
      code: 'P2010',
      meta: { driverAdapterError: new Error('x', { cause: { originalCode: '40P01' } }) },
    }),
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

test('codes of Node and of Prisma are not taken for PostgreSQL’s', () => {
  for (const code of ['EPIPE', 'P2010', '', '400', 'ERR_SQLITE_ERROR'])
    assert.equal(sqlState({ code }), undefined)
  for (const code of ['23505', '40001', 'P0001', 'XX001', 'HV000']) assert.equal(sqlState({ code }), code)
})

test('a wrapped error gets the code, and keeps what it was; one that has it stays itself', () => {
  const failure = Object.assign(new Error('duplicate key'), { code: '23505' })
  assert.equal(withSqlState(failure), failure)
  const wrapped = new Error('query failed', { cause: failure })
  const told = withSqlState(wrapped) as Error & { code: string }
  assert.deepEqual([told.code, told.message, told.cause], ['23505', 'query failed', wrapped])
  const other = new Error('no connection')
  assert.equal(withSqlState(other), other)
})
