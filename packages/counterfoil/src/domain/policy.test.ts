import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Contract, Lookup } from './contract.ts'
import { effectStates } from './lifecycle.ts'
import {
  absenceIsFinal,
  alertUnsentAfterMs,
  closingIsProof,
  factOfAnswer,
  nextStep,
  overdue,
  type PastAttempt,
  repeatUntil,
  type Situation,
} from './policy.ts'

const hour = 3_600_000
const day = 24 * hour

const idempotent: Contract = {
  idempotency: {
    header: 'Idempotency-Key',
    remembersFor: '24h',
    otherPayload: 'refused',
    replays: 'first-success',
  },
}
const firstAnswer: Contract = { idempotency: { ...idempotent.idempotency!, replays: 'first-answer' } }
const queryable: Contract = {
  idempotency: { ...idempotent.idempotency!, replays: 'nothing' },
  lookup: { by: 'key', path: '/operations/{key}', after: '1s', absence: { final: true, after: '30s' } },
}
const hinting: Contract = { ...queryable, lookup: { ...queryable.lookup!, absence: { final: false } } }
const both: Contract = { ...idempotent, lookup: queryable.lookup! }
const neither: Contract = {}

function unknownAttempt(number: number, begunAt: number, endedAt: number): PastAttempt {
  return {
    number,
    begunAt,
    endedAt,
    outcome: 'unknown',
    open: true,
    retryAfterMs: null,
    correlation: null,
  }
}

function unknown(
  contract: Contract,
  lookups: number[] = [],
  attempts = [unknownAttempt(1, 0, 1_000)],
): Situation {
  return { contract, state: 'unknown', plannedAt: 0, attempts, lookups, tombstones: [], accepted: false }
}

const at = (time: number) => ({ askedAt: time, answeredAt: time })

describe('after an unknown outcome', () => {
  test('a recipient with neither idempotency nor lookup is never called again: a person decides', () => {
    const step = nextStep(unknown(neither), 2_000)
    assert.equal(step.kind, 'operator')
    assert.match(step.why, /person decides/)
  })

  test('an idempotent recipient gets the same request again under the same key', () => {
    assert.equal(nextStep(unknown(idempotent), 2_000).kind, 'repeat')
  })

  test('a recipient with a lookup is asked first, after its settling time', () => {
    const step = nextStep(unknown(both), 1_000)
    assert.ok(step.kind === 'lookup' && step.at === 2_000)
  })

  test('a lookup that proved nothing is followed by a repeat where the key makes that safe', () => {
    assert.equal(nextStep(unknown(both, [2_000]), 2_000).kind, 'repeat')
  })

  test('a merely queryable recipient gets no repeat, only further lookups', () => {
    assert.equal(nextStep(unknown(queryable, [2_000]), 2_000).kind, 'lookup')
    assert.equal(nextStep(unknown(hinting, [2_000, 3_000]), 3_000).kind, 'lookup')
  })

  test('the repeat stops before the recipient forgets the key, and a person decides (C01)', () => {
    const attempts = [unknownAttempt(1, 0, 1_000)]
    assert.equal(nextStep(unknown(idempotent, [], attempts), 21 * hour).kind, 'repeat')
    const late = nextStep(unknown(idempotent, [], attempts), 22 * hour)
    assert.equal(late.kind, 'operator')
    assert.match(late.why, /no longer remembers the key/)
  })

  test('lookups that prove nothing for a day end with a person', () => {
    assert.equal(nextStep(unknown(hinting, [day + 2_000]), day + 3_000).kind, 'operator')
  })

  test('what was fenced while an earlier attempt is open is not repeated for ever: it is asked until absence is final', () => {
    const fenced = { ...unknownAttempt(2, 10_000, 11_000), outcome: 'fenced', open: false } as const
    const attempts = [unknownAttempt(1, 0, 1_000), fenced]
    const asked = nextStep(unknown(both, [12_000], attempts), 12_000)
    assert.equal(asked.kind, 'lookup')
    const last = nextStep(unknown(both, [12_000, 40_500], attempts), 40_500)
    assert.deepEqual([last.kind, last.kind === 'lookup' && last.at], ['lookup', 41_000])
    assert.equal(nextStep(unknown(idempotent, [], attempts), 12_000).kind, 'operator')
  })

  test('Retry-After is honoured before a repeat', () => {
    const attempts = [{ ...unknownAttempt(1, 0, 1_000), retryAfterMs: 60_000 }]
    const step = nextStep(unknown(idempotent, [], attempts), 1_000)
    assert.ok(step.kind === 'repeat' && step.at === 61_000)
  })
})

describe('absence', () => {
  const attempts = [unknownAttempt(1, 0, 1_000)]
  test('is final only by contract, and only once the stated time has passed since the last attempt ended', () => {
    assert.equal(absenceIsFinal({ contract: queryable, attempts }, at(30_999)), false)
    assert.equal(absenceIsFinal({ contract: queryable, attempts }, at(31_000)), true)
    assert.equal(absenceIsFinal({ contract: hinting, attempts }, at(day)), false)
    assert.equal(absenceIsFinal({ contract: idempotent, attempts }, at(day)), false)
  })

  test('is no sooner final for a rejected version: nothing lands any more, but a lookup may still lag behind', () => {
    const fence = { header: 'Fence-Version', rejectedWith: 412 }
    const fenced = { ...unknownAttempt(2, 2_000, 3_000), outcome: 'fenced', open: false } as const
    const rejected = [...attempts, fenced]
    for (const [contract, askedAt, final] of [
      [queryable, 32_999, false],
      [queryable, 33_000, true],
      [hinting, day, false],
    ] as const) {
      const ordered = { ...contract, ordering: { fence } }
      assert.equal(absenceIsFinal({ contract: ordered, attempts: rejected }, at(askedAt)), final)
    }
  })

  test('is never final while an attempt is in flight', () => {
    const inFlight = [...attempts, { ...unknownAttempt(2, 2_000, 0), endedAt: null, outcome: null }]
    assert.equal(absenceIsFinal({ contract: queryable, attempts: inFlight }, at(day)), false)
  })

  test('is asked for again at the moment it becomes final', () => {
    const step = nextStep(unknown(queryable, [2_000, 28_000]), 28_000)
    assert.ok(step.kind === 'lookup' && step.at <= 31_000 && step.at >= 28_000)
  })
})

describe('an answer that its attempt did not act', () => {
  const first = unknownAttempt(1, 0, 1_000)
  const second: PastAttempt = {
    number: 2,
    begunAt: 2_000,
    endedAt: null,
    outcome: null,
    open: true,
    retryAfterMs: null,
    correlation: null,
  }

  test('says nothing of an earlier attempt that is still open', () => {
    const situation = { contract: idempotent, state: 'attempting', attempts: [first, second] } as const
    assert.equal(factOfAnswer(situation, 2, { kind: 'notActed' }), 'earlierOpen')
    assert.equal(factOfAnswer(situation, 2, { kind: 'refused' }), 'earlierOpen')
    assert.equal(factOfAnswer(situation, 2, { kind: 'fenced' }), 'earlierOpen')
  })

  test('speaks for the effect when no other attempt is open', () => {
    const situation = {
      contract: idempotent,
      state: 'attempting',
      attempts: [{ ...first, open: false }, second],
    } as const
    assert.equal(factOfAnswer(situation, 2, { kind: 'notActed' }), 'notActed')
    assert.equal(factOfAnswer(situation, 2, { kind: 'refused' }), 'refused')
  })

  test('is the first answer where the recipient stores that, whatever it was', () => {
    const situation = { contract: firstAnswer, state: 'attempting', attempts: [first, second] } as const
    assert.equal(factOfAnswer(situation, 2, { kind: 'refused' }), 'refused')
    assert.equal(factOfAnswer(situation, 2, { kind: 'notActed' }), 'earlierOpen')
  })

  test('changes nothing when a later attempt is in flight', () => {
    const situation = { contract: idempotent, state: 'attempting', attempts: [first, second] } as const
    assert.equal(factOfAnswer(situation, 1, { kind: 'refused' }), 'overtaken')
  })

  test('but a confirmation counts, whichever attempt it answers', () => {
    const situation = { contract: idempotent, state: 'attempting', attempts: [first, second] } as const
    assert.equal(factOfAnswer(situation, 1, { kind: 'confirmed' }), 'confirmed')
  })
})

describe('by the rest of a contract', () => {
  const conditional: Contract = { ordering: { conditional: { header: 'If-Match', rejectedWith: 412 } } }
  const closing: Contract = {
    idempotency: queryable.idempotency!,
    ordering: { tombstone: { method: 'PUT', path: '/{key}' } },
  }
  const polled: Contract = {
    ...both,
    correlation: { pointer: '/id' },
    lookup: { by: 'correlation', path: '/jobs/{correlation}', absence: { final: false } },
  }
  const unstated: Contract = { idempotency: { ...idempotent.idempotency!, remembersFor: 'unstated' } }
  const forever: Contract = { idempotency: { ...idempotent.idempotency!, remembersFor: 'forever' } }

  test('a key remembered for an unstated time makes no repeat safe', () => {
    const step = nextStep(unknown(unstated), 2_000)
    assert.equal(step.kind, 'operator')
    assert.match(step.why, /does not say how long/)
  })

  test('a key remembered for ever may be repeated at any time, and the owner is told after a day', () => {
    assert.equal(nextStep(unknown(forever), 400 * day).kind, 'repeat')
    assert.equal(overdue(unknown(forever), day - 1), null)
    assert.equal(overdue(unknown(forever), day)?.reason, 'still-unknown')
  })

  test('a precondition makes repeats safe until it was found broken: then a person decides', () => {
    assert.equal(nextStep(unknown(conditional), 400 * day).kind, 'repeat')
    const broken = [
      unknownAttempt(1, 0, 1_000),
      { ...unknownAttempt(2, 2_000, 3_000), outcome: 'fenced' as const },
    ]
    const step = nextStep(unknown(conditional, [], broken), 4_000)
    assert.equal(step.kind, 'operator')
    assert.match(step.why, /an earlier attempt acted, or someone else did/)
  })

  test('a lookup by correlation is possible only once an answer has carried one', () => {
    const known = [{ ...unknownAttempt(1, 0, 1_000), correlation: 'job_1' }]
    assert.equal(nextStep(unknown(polled, [], known), 1_000).kind, 'lookup')
    assert.equal(nextStep(unknown(polled), 1_000).kind, 'repeat')
  })

  test('what was accepted is asked about and not repeated, and goes to a person after a day', () => {
    const known = [{ ...unknownAttempt(1, 0, 1_000), correlation: 'job_1' }]
    const waiting = { ...unknown(polled, [2_000], known), accepted: true }
    assert.equal(nextStep(waiting, 2_000).kind, 'lookup')
    const late = nextStep({ ...waiting, lookups: [day + 1] }, day + 2)
    assert.equal(late.kind, 'operator')
    assert.match(late.why, /accepted it/)
  })

  test('a tombstone comes before a person, and only while the recipient still knows the key (I15)', () => {
    assert.equal(nextStep(unknown(closing), 2_000).kind, 'tombstone')
    assert.equal(nextStep(unknown(closing), 22 * hour).kind, 'operator')
    assert.equal(closingIsProof(unknown(closing), 21 * hour), true)
    assert.equal(closingIsProof(unknown(closing), 22 * hour), false)
  })

  test('who may ask on and on closes the key while that still proves something', () => {
    const hints = { by: 'key', path: '/{key}', absence: { final: false } } as const
    const asking = { ...unknown({ ...closing, lookup: hints }), lookups: [2_000, 3_000] }
    assert.equal(nextStep(asking, 10 * hour).kind, 'lookup')
    assert.equal(nextStep(asking, 11 * hour).kind, 'tombstone')
    assert.equal(nextStep(asking, 22 * hour).kind, 'lookup', 'too late for a tombstone, and not to ask')
    assert.equal(nextStep({ ...asking, accepted: true }, 11 * hour).kind, 'lookup', 'it is in work')
  })

  test('who may repeat for a time only closes the key before the last repeat could outlast that', () => {
    const repeating: Contract = { ...idempotent, ordering: closing.ordering! }
    const tries = (lastEnded: number) => [
      unknownAttempt(1, 0, 1_000),
      ...[2, 3, 4, 5, 6, 7, 8, 9, 10].map((n) => unknownAttempt(n, lastEnded - 1_000, lastEnded)),
    ]
    const after = (ended: number) => nextStep(unknown(repeating, [], tries(ended)), ended)
    assert.equal(after(16 * hour).kind, 'repeat')
    const closes = after(16.15 * hour)
    assert.ok(
      closes.kind === 'tombstone' && closes.at === 16.15 * hour,
      'before the wait of five minutes, not after it',
    )
    assert.equal(after(22 * hour).kind, 'operator')
    const { remembersFor: _, ...rest } = repeating.idempotency!
    const always: Contract = { ...repeating, idempotency: { ...rest, remembersFor: 'forever' } }
    assert.equal(
      nextStep(unknown(always), 400 * day).kind,
      'repeat',
      'no last repeat: nothing need be closed',
    )
  })

  test('a tombstone that proves nothing is placed again, with back-off', () => {
    const step = nextStep({ ...unknown(closing), tombstones: [2_000, 3_000] }, 3_000)
    assert.ok(step.kind === 'tombstone' && step.at === 5_000)
  })

  test('absence is no proof once the recipient may have forgotten the act', () => {
    const attempts = [unknownAttempt(1, 0, 1_000)]
    assert.equal(absenceIsFinal({ contract: queryable, attempts }, at(21 * hour)), true)
    assert.equal(absenceIsFinal({ contract: queryable, attempts }, at(22 * hour)), false)
    const lasting: Contract = {
      ...queryable,
      lookup: { ...queryable.lookup!, findsFor: 'forever' } as Lookup,
    }
    assert.equal(absenceIsFinal({ contract: lasting, attempts }, at(400 * day)), true)
  })

  test('what provably does not get through is told to its owner after a quarter of an hour, and goes on', () => {
    const unsent = { ...unknownAttempt(1, 0, 1_000), outcome: 'notActed' as const, open: false }
    const planned = { ...unknown(idempotent, [], [unsent]), state: 'planned' as const }
    assert.equal(overdue(planned, alertUnsentAfterMs - 1), null)
    assert.equal(overdue(planned, alertUnsentAfterMs)?.reason, 'cannot-be-sent')
    assert.equal(nextStep(planned, alertUnsentAfterMs).kind, 'attempt')
  })

  test('a late unclear answer of an earlier attempt does not end the one in flight', () => {
    const attempts = [
      unknownAttempt(1, 0, 1_000),
      { ...unknownAttempt(2, 2_000, 0), endedAt: null, outcome: null },
    ]
    const situation = { contract: idempotent, state: 'attempting', attempts } as const
    assert.equal(factOfAnswer(situation, 1, { kind: 'unknown' }), 'overtaken')
    assert.equal(factOfAnswer(situation, 2, { kind: 'unknown' }), 'unclear')
    assert.equal(factOfAnswer(situation, 2, { kind: 'unknown', accepted: true }), 'accepted')
  })
})

describe('for every contract and situation', () => {
  const contract = fc.constantFrom(idempotent, firstAnswer, queryable, hinting, both, neither)
  const times = fc
    .array(fc.integer({ min: 0, max: 3 * day }), { maxLength: 6 })
    .map((at) => at.sort((a, b) => a - b))
  const situation = fc.record({
    contract,
    times,
    lookups: times,
    state: fc.constantFrom(...effectStates),
    now: fc.integer({ min: 0, max: 4 * day }),
  })

  test('a repeat is offered only under a key that the recipient still remembers with certainty (I16)', () => {
    fc.assert(
      fc.property(situation, ({ contract, times, lookups, state, now }) => {
        const attempts = times.map((at, index) => unknownAttempt(index + 1, at, at + 1_000))
        const step = nextStep({ ...unknown(contract, lookups, attempts), state }, now)
        if (step.kind !== 'repeat') return
        const until = repeatUntil({ contract, attempts })
        assert.ok(state === 'unknown' && until !== null)
        assert.ok(Math.max(step.at, now) < until && until < times[0]! + day)
      }),
      { numRuns: 2_000 },
    )
  })

  test('a lookup is offered only where the contract has one, and everything says why', () => {
    fc.assert(
      fc.property(situation, ({ contract, times, lookups, state, now }) => {
        const attempts = times.map((at, index) => unknownAttempt(index + 1, at, at + 1_000))
        const step = nextStep({ ...unknown(contract, lookups, attempts), state }, now)
        if (step.kind === 'lookup') assert.ok(contract.lookup)
        if (step.kind === 'attempt') assert.equal(state, 'planned')
        assert.match(step.why, /\.$/)
      }),
      { numRuns: 2_000 },
    )
  })
})
