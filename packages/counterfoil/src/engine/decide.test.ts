import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type Contract, type EffectState, effectStates, isFinalState } from '../domain/index.ts'
import type { AttemptRecord, EffectView } from '../store/index.ts'
import { decide, type Learned } from './decide.ts'

const now = 1_000_000
const contract: Contract = {
  idempotency: {
    header: 'Idempotency-Key',
    remembersFor: '24h',
    otherPayload: 'refused',
    replays: 'first-success',
  },
  lookup: { by: 'key', path: '/operations/{key}', absence: { final: true, after: '30s' } },
}

function attempt(
  number: number,
  outcome: AttemptRecord['outcome'],
  about: Partial<AttemptRecord> = {},
): AttemptRecord {
  const open = outcome === null || outcome === 'unknown'
  const endedAt = outcome === null ? null : now - 900
  return {
    number,
    outcome,
    open,
    endedAt,
    begunAt: now - 1_000,
    why: null,
    status: null,
    correlation: null,
    retryAfterMs: null,
    worker: 'wrk_1',
    ...about,
  }
}

function effect(state: EffectState, attempts: AttemptRecord[] = []): EffectView {
  return {
    id: 'eff_1' as EffectView['id'],
    recipient: 'seats',
    key: 'invoice/481/seat' as EffectView['key'],
    name: 'seat.open',
    fingerprint: 'jcs-sha256:00' as EffectView['fingerprint'],
    idempotencyKey: 'cf_1' as EffectView['idempotencyKey'],
    order: null,
    plannedAt: now - 2_000,
    trace: null,
    state,
    version: 7,
    disputed: false,
    escalated: false,
    changedAt: now - 1_000,
    dueAt: now,
    attempts,
    evidence: [],
  }
}

const answer = (
  number: number,
  kind: 'confirmed' | 'refused' | 'fenced' | 'notActed' | 'unknown',
): Learned => ({
  kind: 'answer',
  attempt: number,
  outcome: { kind, why: 'said so' },
})

const settled = (view: EffectView, learned: Learned) =>
  decide(view, contract, 'operators', learned, now, 0)?.settlement

describe('the first answer of the attempt in flight', () => {
  test('is kept with the attempt and moves the effect', () => {
    const settlement = settled(effect('attempting', [attempt(1, null)]), answer(1, 'confirmed'))
    assert.deepEqual(
      [
        settlement?.to,
        settlement?.dueAt,
        settlement?.attempt?.outcome,
        settlement?.evidence,
        settlement?.expectedVersion,
      ],
      ['confirmed', null, 'confirmed', undefined, 7],
    )
  })

  test('when it proves nothing, leaves the effect unknown and due for a lookup', () => {
    const settlement = settled(effect('attempting', [attempt(1, null)]), answer(1, 'unknown'))
    assert.deepEqual(
      [settlement?.to, settlement?.dueAt, settlement?.closeAttempts],
      ['unknown', now + 1_000, false],
    )
  })

  test('when it proves that nothing was sent, plans the effect again after a delay', () => {
    const settlement = settled(effect('attempting', [attempt(1, null)]), answer(1, 'notActed'))
    assert.deepEqual(
      [settlement?.to, settlement?.dueAt, settlement?.closeAttempts],
      ['planned', now + 1_000, true],
    )
  })

  test('when nothing was sent but an earlier attempt is open, leaves the effect unknown', () => {
    const settlement = settled(
      effect('attempting', [attempt(1, 'unknown'), attempt(2, null)]),
      answer(2, 'notActed'),
    )
    assert.deepEqual([settlement?.to, settlement?.closeAttempts], ['unknown', false])
  })
})

describe('a late answer', () => {
  test('is evidence for the effect whoever holds the lease now', () => {
    const settlement = settled(
      effect('attempting', [attempt(1, 'unknown'), attempt(2, null)]),
      answer(1, 'confirmed'),
    )
    assert.equal(settlement?.to, 'confirmed')
    assert.equal(settlement?.evidence?.kind, 'late-answer')
  })

  test('that refuses changes nothing while a later attempt is in flight, and leaves its lease alone', () => {
    const settlement = settled(
      effect('attempting', [attempt(1, 'unknown'), attempt(2, null)]),
      answer(1, 'refused'),
    )
    assert.deepEqual([settlement?.to, settlement?.dueAt], ['attempting', 'unchanged'])
  })

  test('that proves nothing comes from a process that was paused: it may have sent as late as that, and waiting begins anew', () => {
    const lost = attempt(1, 'unknown', { begunAt: now - 29_000, endedAt: now - 28_000 })
    const settlement = settled(effect('unknown', [lost]), answer(1, 'unknown'))
    assert.deepEqual([settlement?.to, settlement?.dueAt], ['unknown', now + 1_000])
  })

  test('that contradicts a final state is kept, marks the effect disputed and alerts its owner', () => {
    const settlement = settled(
      effect('refused', [attempt(1, 'unknown', { open: false }), attempt(2, 'refused')]),
      answer(1, 'confirmed'),
    )
    assert.deepEqual(
      [settlement?.to, settlement?.disputed, settlement?.alert?.reason],
      ['refused', true, 'disputed'],
    )
  })
})

describe('a lookup', () => {
  const asks = (finding: 'acted' | 'absent' | 'nothing', askedAt = now): Learned => ({
    kind: 'lookup',
    askedAt,
    answeredAt: askedAt,
    finding: { kind: finding, why: 'the lookup answered' },
  })

  test('that finds the act confirms the effect, with the lookup as evidence', () => {
    const settlement = settled(effect('unknown', [attempt(1, 'unknown')]), asks('acted'))
    assert.deepEqual(
      [settlement?.to, settlement?.evidence?.fact, settlement?.dueAt],
      ['confirmed', 'foundActed', null],
    )
  })

  test('that finds nothing too early proves nothing, and says so', () => {
    const settlement = settled(effect('unknown', [attempt(1, 'unknown')]), asks('absent'))
    assert.deepEqual([settlement?.to, settlement?.evidence?.fact], ['unknown', 'nothingProven'])
    assert.match(settlement?.evidence?.why ?? '', /not final now/)
  })

  test('that was asked in time and answered after the recipient may have forgotten proves nothing', () => {
    const hour = 3_600_000
    const begunAt = now - 30 * hour
    const asked: Learned = {
      kind: 'lookup',
      askedAt: begunAt + hour,
      answeredAt: now,
      finding: { kind: 'absent', why: 'the lookup answered' },
    }
    const settlement = settled(
      effect('unknown', [attempt(1, 'unknown', { begunAt, endedAt: begunAt })]),
      asked,
    )
    assert.deepEqual([settlement?.to, settlement?.evidence?.fact], ['unknown', 'nothingProven'])
  })

  test('that finds nothing after the stated time plans the effect again', () => {
    const settlement = settled(
      effect('unknown', [attempt(1, 'unknown', { endedAt: now - 31_000 })]),
      asks('absent'),
    )
    assert.deepEqual(
      [settlement?.to, settlement?.evidence?.fact, settlement?.closeAttempts],
      ['planned', 'absenceFinal', true],
    )
  })
})

test('a lease that ended leaves an unknown attempt behind and the effect unknown', () => {
  const settlement = settled(effect('attempting', [attempt(1, null)]), { kind: 'leaseEnded' })
  assert.deepEqual(
    [settlement?.to, settlement?.attempt?.outcome, settlement?.evidence?.kind],
    ['unknown', 'unknown', 'lease'],
  )
})

test('an unknown effect that nothing can settle is given to its owner once, and then left alone', () => {
  const step = decide(
    effect('unknown', [attempt(1, 'unknown')]),
    {},
    'payments team',
    { kind: 'escalate', why: 'no way' },
    now,
    0,
  )
  assert.deepEqual(
    [step?.settlement.escalated, step?.settlement.dueAt, step?.settlement.alert],
    [true, null, { reason: 'unknown-needs-a-decision', owner: 'payments team' }],
  )
  const again = decide(
    { ...effect('unknown', [attempt(1, 'unknown')]), escalated: true },
    {},
    'payments team',
    { kind: 'escalate', why: 'no way' },
    now,
    0,
  )
  assert.equal(again?.settlement.alert, undefined)
})

test('whatever is learned, a final state stays and nothing is due', () => {
  const learned: fc.Arbitrary<Learned> = fc.oneof(
    fc
      .record({
        number: fc.integer({ min: 1, max: 3 }),
        kind: fc.constantFrom('confirmed', 'refused', 'fenced', 'notActed', 'unknown'),
      })
      .map(({ number, kind }) => answer(number, kind as 'confirmed')),
    fc.constant<Learned>({ kind: 'leaseEnded' }),
    fc.constantFrom('acted', 'refused', 'absent', 'nothing').map(
      (kind): Learned => ({
        kind: 'lookup',
        askedAt: now,
        answeredAt: now,
        finding: { kind: kind as 'acted', why: 'x' },
      }),
    ),
  )
  const outcomes = fc.array(fc.constantFrom('confirmed', 'refused', 'notActed', 'unknown'), {
    minLength: 1,
    maxLength: 3,
  })
  fc.assert(
    fc.property(
      fc.constantFrom(...effectStates.filter(isFinalState)),
      outcomes,
      learned,
      (state, past, fact) => {
        const view = effect(
          state,
          past.map((outcome, index) => attempt(index + 1, outcome as 'unknown')),
        )
        const settlement = settled(view, fact)
        assert.equal(settlement?.to, state)
        assert.equal(settlement?.dueAt, null)
      },
    ),
    { numRuns: 1_000 },
  )
})

describe('by the rest of a contract', () => {
  const closing: Contract = {
    idempotency: { ...contract.idempotency!, replays: 'nothing' },
    ordering: { tombstone: { method: 'PUT', path: '/{key}' } },
  }
  const closes = (kind: 'closed' | 'acted' | 'refused' | 'nothing', begunAt = now - 1_000, askedAt = now) =>
    decide(
      effect('unknown', [attempt(1, 'unknown', { begunAt })]),
      closing,
      'payments team',
      { kind: 'tombstone', askedAt, answeredAt: now, finding: { kind, why: 'said so' } },
      now,
      0,
    )?.settlement

  test('a key that the recipient closed withdraws the effect, and its owner is told', () => {
    const settlement = closes('closed')
    assert.deepEqual(
      [settlement?.to, settlement?.evidence?.kind, settlement?.dueAt],
      ['withdrawn', 'tombstone', null],
    )
    assert.deepEqual(settlement?.alert, { reason: 'withdrawn-by-tombstone', owner: 'payments team' })
  })

  test('a key that was closed after the recipient may have forgotten it is no proof, however early it was asked', () => {
    const day = 86_400_000
    assert.equal(closes('closed', now - 2 * day, now - 2 * day + 1_000)?.to, 'unknown')
  })

  test('one that had acted or was refused says so, and one that answered nothing is asked again', () => {
    assert.equal(closes('acted')?.to, 'confirmed')
    assert.equal(closes('refused')?.to, 'refused')
    assert.deepEqual([closes('nothing')?.to, typeof closes('nothing')?.dueAt], ['unknown', 'number'])
  })

  test('a key that was closed after the recipient may have forgotten it proves nothing', () => {
    const settlement = closes('closed', now - 23 * 3_600_000)
    assert.deepEqual([settlement?.to, settlement?.evidence?.fact], ['unknown', 'nothingProven'])
    assert.equal(settlement?.alert?.reason, 'unknown-needs-a-decision')
  })

  test('what was accepted is kept as evidence and asked about', () => {
    const step = decide(
      effect('attempting', [attempt(1, null)]),
      contract,
      'operators',
      {
        kind: 'answer',
        attempt: 1,
        outcome: { kind: 'unknown', accepted: true, why: 'answered 202', correlation: 'job_1' },
      },
      now,
      0,
    )
    assert.deepEqual([step?.state, step?.fact, step?.next.kind], ['unknown', 'accepted', 'lookup'])
    assert.deepEqual(
      [step?.settlement.evidence?.kind, step?.settlement.attempt?.correlation],
      ['acceptance', 'job_1'],
    )
  })

  test('an owner is told once of a credential that is refused, and the effect stays planned', () => {
    const learned: Learned = {
      kind: 'answer',
      attempt: 1,
      outcome: { kind: 'notActed', why: 'answered 401', alert: 'credentials-refused' },
    }
    const first = settled(effect('attempting', [attempt(1, null)]), learned)
    assert.deepEqual(
      [first?.to, first?.alert?.reason, first?.evidence?.kind],
      ['planned', 'credentials-refused', 'escalation'],
    )
    const told = { ...first!.evidence!, at: now, to: 'planned' as const }
    const again = settled({ ...effect('attempting', [attempt(1, null)]), evidence: [told] }, learned)
    assert.deepEqual([again?.to, again?.alert], ['planned', undefined])
  })
})
