import assert from 'node:assert/strict'
import { test } from 'node:test'
import { effectStates, facts, isFinalState, transition } from './lifecycle.ts'

/** The table of design.md section 3, row by row, with the facts that stand for each wording. */
const design = [
  ['planned', 'begun', 'attempting'],
  ['attempting', 'confirmed', 'confirmed'],
  ['attempting', 'refused', 'refused'],
  ['attempting', 'fenced', 'fenced'],
  ['attempting', 'notActed', 'planned'],
  ['attempting', 'unclear', 'unknown'],
  ['attempting', 'leaseEnded', 'unknown'],
  ['unknown', 'repeatBegun', 'attempting'],
  ['unknown', 'foundActed', 'confirmed'],
  ['unknown', 'foundRefused', 'refused'],
  ['unknown', 'absenceFinal', 'planned'],
  ['unknown', 'nothingProven', 'unknown'],
  ['unknown', 'tombstoned', 'withdrawn'],
  ['unknown', 'operatorConfirmed', 'confirmed'],
  ['unknown', 'operatorRefused', 'refused'],
  ['unknown', 'operatorWithdrew', 'withdrawn'],
  ['planned', 'operatorWithdrew', 'withdrawn'],
] as const

for (const [from, fact, to] of design) {
  test(`an effect that is ${from} and learns '${fact}' becomes ${to}`, () => {
    const step = transition(from, fact)
    assert.equal(step.kind === 'moves' ? step.to : from, to)
    assert.notEqual(step.kind, 'illegal')
  })
}

test('every pair of state and fact is decided, and what is illegal says why', () => {
  for (const state of effectStates) {
    for (const fact of facts) {
      const step = transition(state, fact)
      assert.ok(['moves', 'stays', 'disputes', 'illegal'].includes(step.kind), `${state} + ${fact}`)
      if (step.kind === 'illegal') assert.ok(step.why.length > 10)
    }
  }
})

test('a final state never moves, whatever is learned', () => {
  for (const state of effectStates.filter(isFinalState)) {
    for (const fact of facts) assert.notEqual(transition(state, fact).kind, 'moves', `${state} + ${fact}`)
  }
})

test('a contradiction of a final state is kept as a dispute', () => {
  assert.equal(transition('confirmed', 'foundRefused').kind, 'disputes')
  assert.equal(transition('confirmed', 'absenceFinal').kind, 'disputes')
  assert.equal(transition('refused', 'confirmed').kind, 'disputes')
  assert.equal(transition('fenced', 'foundActed').kind, 'disputes')
  assert.equal(transition('withdrawn', 'confirmed').kind, 'disputes')
})

test('a planned effect that turns out to have acted is confirmed, never repeated, and disputed', () => {
  assert.deepEqual(transition('planned', 'confirmed'), { kind: 'moves', to: 'confirmed', disputed: true })
  assert.deepEqual(transition('planned', 'foundActed'), { kind: 'moves', to: 'confirmed', disputed: true })
})

test('unknown is left by evidence only: no passing of time, no failure, no second lease moves it', () => {
  for (const fact of ['leaseEnded', 'unclear', 'nothingProven', 'overtaken', 'earlierOpen'] as const) {
    assert.equal(transition('unknown', fact).kind, 'stays', fact)
  }
  assert.equal(transition('unknown', 'begun').kind, 'illegal')
})

test('a second attempt is never begun while one is in flight', () => {
  assert.equal(transition('attempting', 'begun').kind, 'illegal')
  assert.equal(transition('attempting', 'repeatBegun').kind, 'illegal')
})

test('a lease that ends while attempting leaves the effect unknown, not planned', () => {
  assert.deepEqual(transition('attempting', 'leaseEnded'), { kind: 'moves', to: 'unknown', disputed: false })
})

test('only a planned effect is begun and only an unknown one is repeated', () => {
  for (const state of effectStates) {
    assert.equal(transition(state, 'begun').kind === 'moves', state === 'planned')
    assert.equal(transition(state, 'repeatBegun').kind === 'moves', state === 'unknown')
  }
})
