import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../testing/index.ts'
import { absoluteMs, idleMs, Sessions } from './sessions.ts'

const olga = { name: 'olga', role: 'operator' } as const

function begun() {
  const clock = new VirtualClock()
  const sessions = new Sessions(clock)
  return { clock, sessions, secret: sessions.begin(olga) }
}

test('a session is its operator to whoever has its whole secret, and nobody to others', () => {
  const { sessions, secret } = begun()
  assert.deepEqual(sessions.operatorOf(secret, { active: true }), olga)
  for (const other of [undefined, '', secret.slice(1), `${secret}=`, secret.toUpperCase()])
    assert.equal(sessions.operatorOf(other, { active: true }), null)
  assert.notEqual(sessions.begin(olga), secret)
})

test('a session ends when its operator does nothing for the idle time', () => {
  const { clock, sessions, secret } = begun()
  clock.jump(idleMs - 1)
  assert.deepEqual(sessions.operatorOf(secret, { active: true }), olga)
  clock.jump(idleMs - 1)
  assert.deepEqual(sessions.operatorOf(secret, { active: true }), olga)
  clock.jump(idleMs)
  assert.equal(sessions.operatorOf(secret, { active: true }), null)
})

test('what a page asks by itself keeps no session alive', () => {
  const { clock, sessions, secret } = begun()
  for (let asked = 0; asked < 10; asked++) {
    clock.jump(idleMs / 10 - 1)
    assert.deepEqual(sessions.operatorOf(secret, { active: false }), olga)
  }
  clock.jump(10)
  assert.equal(sessions.operatorOf(secret, { active: false }), null)
})

test('a session ends after the absolute time, however busy its operator is', () => {
  const { clock, sessions, secret } = begun()
  for (let spent = 0; spent < absoluteMs; spent += idleMs / 2) {
    assert.deepEqual(sessions.operatorOf(secret, { active: true }), olga)
    clock.jump(idleMs / 2)
  }
  assert.equal(sessions.operatorOf(secret, { active: true }), null)
})

test('an ended session stays ended', () => {
  const { sessions, secret } = begun()
  sessions.end(secret)
  assert.equal(sessions.operatorOf(secret, { active: true }), null)
})

test('there are never more sessions than the limit: the one that was quiet longest makes room', () => {
  const { sessions, secret } = begun()
  const quiet = sessions.begin(olga)
  assert.deepEqual(sessions.operatorOf(secret, { active: true }), olga)
  for (let more = 0; more < 999; more++) sessions.begin(olga)
  assert.equal(sessions.operatorOf(quiet, { active: true }), null)
  assert.deepEqual(sessions.operatorOf(secret, { active: true }), olga)
})
