import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Credentials, newToken, operatorNamed } from './credentials.ts'

test('a new token names its operator, and the configuration keeps no token', () => {
  const [dana, abe] = [newToken(), newToken()]
  const credentials = new Credentials(
    [
      { name: 'dana', role: 'operator', token: dana.kept },
      { name: 'abe', role: 'approver', token: abe.kept },
      { name: 'cli', role: 'viewer' },
    ],
    {},
  )
  assert.deepEqual(credentials.operatorOf(dana.token), { name: 'dana', role: 'operator' })
  assert.deepEqual(credentials.operatorOf(abe.token), { name: 'abe', role: 'approver' })
  for (const wrong of ['', 'x', `${dana.token}x`, dana.token.slice(1), dana.kept])
    assert.equal(credentials.operatorOf(wrong), null)
  assert.ok(!dana.kept.includes(dana.token))
  assert.doesNotMatch(JSON.stringify(credentials), new RegExp(dana.token))
})

test('the environment names operators too', () => {
  const credentials = new Credentials([], {
    COUNTERFOIL_OPERATORS: 'dana:operator:a-token:with-a-colon, vera:viewer:another-token-of-vera',
    COUNTERFOIL_OPERATOR_TOKEN: 'a token of sixteen or more',
  })
  assert.deepEqual(credentials.operatorOf('a-token:with-a-colon'), { name: 'dana', role: 'operator' })
  assert.deepEqual(credentials.operatorOf('another-token-of-vera'), { name: 'vera', role: 'viewer' })
  assert.deepEqual(credentials.operatorOf('a token of sixteen or more'), {
    name: 'operator',
    role: 'approver',
  })
  assert.ok(new Credentials([{ name: 'cli', role: 'viewer' }], {}).isEmpty)
})

test('credentials that cannot be read are refused, and their error quotes none', () => {
  const refuses = (make: () => Credentials) =>
    assert.throws(make, (error: { code: string; message: string }) => {
      assert.equal(error.code, 'config_invalid')
      assert.doesNotMatch(error.message, /tiny|hunter2/)
      return true
    })
  for (const text of ['dana:operator:tiny', 'dana:boss:hunter2-hunter2-hunter2', 'hunter2-hunter2-hunter2'])
    refuses(() => new Credentials([], { COUNTERFOIL_OPERATORS: text }))
  refuses(() => new Credentials([], { COUNTERFOIL_OPERATOR_TOKEN: 'tiny' }))
  for (const token of ['hunter2', 'sha256:short:00', `sha256:${'a'.repeat(20)}:${'0'.repeat(63)}`])
    refuses(() => new Credentials([{ name: 'dana', role: 'operator', token }], {}))
})

test('at the command line the configuration says the role; without operators whoever has the file approves', () => {
  const configured = [{ name: 'dana', role: 'operator' }] as const
  assert.deepEqual(operatorNamed(configured, 'dana'), { name: 'dana', role: 'operator' })
  assert.throws(() => operatorNamed(configured, 'mallory'), { code: 'not_authorised' })
  assert.deepEqual(operatorNamed([], 'mallory'), { name: 'mallory', role: 'approver' })
  assert.throws(() => operatorNamed([], undefined), { code: 'decision_invalid' })
  assert.throws(() => operatorNamed([], ' '), { code: 'decision_invalid' })
})
