import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Contract, Idempotency, Lookup, Ordering } from './contract.ts'
import { checkContract } from './contract-check.ts'
import { effectStates } from './lifecycle.ts'
import { nextStep, type PastAttempt, repeatUntil, type Situation, type Step } from './policy.ts'

const hour = 3_600_000
const day = 24 * hour

const remembers = ['24h', 'forever', 'unstated'] as const
const replays = ['first-success', 'first-answer', 'nothing', 'unstated'] as const
const keys: (Idempotency | undefined)[] = [
  undefined,
  ...remembers.flatMap((remembersFor) =>
    replays.map(
      (replayed) => ({ header: 'K', remembersFor, otherPayload: 'refused', replays: replayed }) as const,
    ),
  ),
]
const final = { final: true, after: '30s' } as const
const lookups: (Lookup | undefined)[] = [
  undefined,
  { by: 'key', path: '/{key}', absence: final },
  { by: 'key', path: '/{key}', absence: { final: false } },
  { by: 'correlation', path: '/{correlation}', absence: { final: false } },
  { by: 'function', absence: final },
]
const orderings: (Ordering | undefined)[] = [
  undefined,
  { fence: { header: 'F', rejectedWith: 412 } },
  { conditional: { header: 'If-Match', rejectedWith: 412 } },
  { tombstone: { method: 'PUT', path: '/{key}' } },
]

/** Every combination that does not contradict itself. */
const contracts = keys.flatMap((idempotency) =>
  lookups.flatMap((lookup) =>
    orderings.flatMap((ordering): Contract[] => {
      const contract: Contract = {
        correlation: { pointer: '/id' },
        ...(idempotency === undefined ? {} : { idempotency }),
        ...(lookup === undefined ? {} : { lookup }),
        ...(ordering === undefined ? {} : { ordering }),
      }
      try {
        checkContract('r', contract)
        return [contract]
      } catch {
        return []
      }
    }),
  ),
)

const outcomes = ['unknown', 'fenced', 'notActed'] as const

/** Effects after one and two attempts, asked never and often, accepted or not, soon and late. */
function* situations(contract: Contract): Generator<[Situation, number]> {
  for (const state of effectStates)
    for (const second of [undefined, ...outcomes])
      for (const correlation of [null, 'op_1'])
        for (const asked of [0, 3])
          for (const accepted of [false, true])
            for (const now of [2_000, 2 * hour, 21 * hour, 23 * hour, 3 * day]) {
              const attempts: PastAttempt[] = (['unknown', second] as const).flatMap((outcome, index) =>
                outcome === undefined
                  ? []
                  : [
                      {
                        number: index + 1,
                        begunAt: index * 1_000,
                        endedAt: index * 1_000 + 500,
                        outcome,
                        open: outcome === 'unknown',
                        retryAfterMs: null,
                        correlation,
                      },
                    ],
              )
              const times = Array.from({ length: asked }, (_, index) => now - index).reverse()
              yield [
                { contract, state, plannedAt: 0, attempts, lookups: times, tombstones: [], accepted },
                now,
              ]
            }
}

function kindsOf(step: Step, { contract, attempts, accepted }: Situation, now: number): void {
  const { idempotency, lookup, ordering } = contract
  assert.match(step.why, /^[A-Z\d].*\.$/s)
  switch (step.kind) {
    case 'repeat': {
      const byKey = idempotency !== undefined && idempotency.replays !== 'nothing'
      assert.ok(byKey || ordering?.conditional !== undefined, 'a repeat needs a key or a condition')
      assert.ok(!accepted, 'what was accepted is not repeated')
      const until = repeatUntil({ contract, attempts })
      assert.ok(until !== null && Math.max(step.at, now) < until)
      if (ordering?.conditional === undefined && idempotency?.remembersFor === '24h')
        assert.ok(Math.max(step.at, now) < 0.9 * day)
      break
    }
    case 'lookup':
      assert.ok(lookup !== undefined, 'nobody is asked who offers no lookup')
      if (lookup.by === 'correlation') assert.ok(attempts.some(({ correlation }) => correlation !== null))
      break
    case 'tombstone':
      assert.ok(ordering?.tombstone !== undefined)
      assert.ok(idempotency?.remembersFor !== '24h' || now < 0.9 * day, 'a forgotten key is not closed')
      break
    case 'operator':
      assert.match(step.why, /person decides/)
      break
    case 'attempt':
    case 'wait':
    case 'done':
      break
  }
}

test(`each of ${contracts.length} contracts allows only what it makes safe, in every situation, and says why`, () => {
  assert.ok(contracts.length > 200)
  const seen = new Set<string>()
  for (const contract of contracts) {
    for (const [situation, now] of situations(contract)) {
      const step = nextStep(situation, now)
      seen.add(`${situation.state} ${step.kind}`)
      kindsOf(step, situation, now)
      const expected = {
        attempting: ['wait'],
        planned: ['attempt'],
        unknown: ['lookup', 'repeat', 'tombstone', 'operator'],
      }
      const allowed: readonly string[] = expected[situation.state as 'unknown'] ?? ['done']
      assert.ok(allowed.includes(step.kind), `${situation.state} → ${step.kind}`)
    }
  }
  for (const kind of ['lookup', 'repeat', 'tombstone', 'operator'])
    assert.ok(seen.has(`unknown ${kind}`), kind)
})
