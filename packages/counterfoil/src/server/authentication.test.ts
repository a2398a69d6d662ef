import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Credentials } from '../operate/index.ts'
import { VirtualClock } from '../testing/index.ts'
import { Authentication, failureWindowMs, maxFailures } from './authentication.ts'

const token = 'a token of sixteen or more'
const good = `Bearer ${token}`

function authentication() {
  const clock = new VirtualClock()
  return {
    clock,
    auth: new Authentication(new Credentials([], { COUNTERFOIL_OPERATOR_TOKEN: token }), clock),
  }
}

const code = (attempt: () => unknown) => {
  try {
    attempt()
    return 'let in'
  } catch (error) {
    return (error as { code: string }).code
  }
}

test('only the whole token as a bearer token is let in', () => {
  const { auth } = authentication()
  assert.equal(auth.operatorOf(good, 'a').name, 'operator')
  assert.equal(auth.operatorOf(`bearer ${token}`, 'a').name, 'operator')
  const wrong = [undefined, '', 'Bearer', 'Bearer ', token, `Basic ${token}`, `${good}x`, good.slice(0, -1)]
  for (const header of wrong)
    assert.equal(
      code(() => auth.operatorOf(header, String(header))),
      'not_authenticated',
      header,
    )
})

test('after many failures from one address it is locked for a while, even with the right token', () => {
  const { auth, clock } = authentication()
  for (let failures = 0; failures < maxFailures; failures++)
    assert.equal(
      code(() => auth.operatorOf('Bearer wrong', 'a')),
      'not_authenticated',
    )
  assert.equal(
    code(() => auth.operatorOf('Bearer wrong', 'a')),
    'credentials_locked',
  )
  assert.equal(
    code(() => auth.operatorOf(good, 'a')),
    'credentials_locked',
  )
  assert.equal(
    code(() => auth.operatorOf(good, 'b')),
    'let in',
  )
  clock.jump(failureWindowMs)
  assert.equal(
    code(() => auth.operatorOf(good, 'a')),
    'let in',
  )
})

test('failures that are further apart lock nobody out', () => {
  const { auth, clock } = authentication()
  for (let failures = 0; failures < 3 * maxFailures; failures++) {
    assert.equal(
      code(() => auth.operatorOf('Bearer wrong', 'a')),
      'not_authenticated',
    )
    clock.jump(failureWindowMs / (maxFailures - 1))
  }
})

test('addresses are remembered up to a limit: a flood of them forgets the oldest', () => {
  const { auth } = authentication()
  for (let failures = 0; failures < maxFailures; failures++) code(() => auth.operatorOf('Bearer x', 'first'))
  assert.equal(
    code(() => auth.operatorOf(good, 'first')),
    'credentials_locked',
  )
  for (let address = 0; address < 5_000; address++) code(() => auth.operatorOf('Bearer x', `a${address}`))
  assert.equal(
    code(() => auth.operatorOf(good, 'first')),
    'let in',
  )
})
