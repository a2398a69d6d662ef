import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Fingerprint } from '../domain/index.ts'
import { type AgeRules, decide, type KeyRow } from './decide.ts'

const now = Date.UTC(2026, 0, 1)
const [one, other] = ['raw-sha256:1', 'raw-sha256:2'] as Fingerprint[] as [Fingerprint, Fingerprint]
const answer = { status: 201, headers: [], body: new Uint8Array(0) }
const rules: AgeRules = {
  remembersForMs: 100_000,
  forgetKeys: true,
  acceptsForMs: 20_000,
  clockSkewMs: 1_000,
}
const call = { fingerprint: one, plannedAt: now, begunAt: now }
const answered = (about: Partial<Extract<KeyRow, { kind: 'answered' }>> = {}): KeyRow => ({
  kind: 'answered',
  fingerprint: one,
  plannedAt: now,
  at: now,
  expiresAt: now + rules.remembersForMs,
  status: 201,
  answer,
  ...about,
})

/** What the rule says, in a word. */
function word(
  about: Partial<typeof call>,
  row: KeyRow | null,
  more: Partial<AgeRules> = {},
  at = now,
  inFlight = false,
): string {
  const verdict = decide({ ...call, ...about }, { inFlight, row, now: at }, { ...rules, ...more })
  return verdict.kind === 'refuse' ? verdict.refusal.code : verdict.kind
}

test('every case of the rule', () => {
  assert.equal(word({}, null), 'act')
  assert.equal(word({}, answered()), 'replay')
  assert.equal(word({}, null, {}, now, true), 'guard_in_flight')
  assert.equal(word({ fingerprint: other }, answered()), 'guard_key_reused')
  assert.equal(word({ plannedAt: now + 1 }, answered()), 'guard_key_reused')
  assert.equal(word({}, answered({ answer: null })), 'guard_key_expired')
  assert.equal(word({}, answered({ expiresAt: now })), 'guard_key_expired')
  assert.equal(word({}, { kind: 'tombstoned', at: now }), 'guard_tombstoned')
  assert.equal(word({ fingerprint: other }, { kind: 'tombstoned', at: now }), 'guard_tombstoned')
})

describe('at its edges', () => {
  test('retention ends by the skew of clocks before the row may go', () => {
    assert.equal(word({ plannedAt: now - 98_999 }, null), 'act')
    assert.equal(word({ plannedAt: now - 99_000 }, null), 'guard_key_expired')
    assert.equal(word({ plannedAt: now - 1e9 }, null, { forgetKeys: false }), 'act')
  })
  test('travel ends at its bound', () => {
    assert.equal(word({ begunAt: now - 19_999 }, null), 'act')
    assert.equal(word({ begunAt: now - 20_000 }, null), 'guard_attempt_stale')
    assert.equal(word({ begunAt: now - 1e9 }, null, { acceptsForMs: null }), 'act')
  })
  test('the future begins after the skew', () => {
    assert.equal(word({ plannedAt: now + 1_000, begunAt: now + 1_000 }, null), 'act')
    assert.equal(word({ plannedAt: now + 1_001 }, null), 'guard_time_invalid')
    assert.equal(word({ begunAt: now + 1_001 }, null), 'guard_time_invalid')
  })
})

const skew = fc.integer({ min: -rules.clockSkewMs, max: rules.clockSkewMs })
const span = fc.integer({ min: 0, max: 3 * rules.remembersForMs })

test("no key that acted and was forgotten acts again, whatever the sender's clock says within the skew", () => {
  fc.assert(
    fc.property(skew, span, span, (ahead, actsAfter, repeatsAfter) => {
      const plannedAt = now + ahead
      const actedAt = now + actsAfter
      if (word({ plannedAt, begunAt: actedAt }, null, {}, actedAt) !== 'act') return
      const expiresAt = actedAt + rules.remembersForMs
      const repeatedAt = actedAt + repeatsAfter
      const row = repeatedAt < expiresAt ? answered({ plannedAt, at: actedAt, expiresAt }) : null
      assert.notEqual(word({ plannedAt, begunAt: repeatedAt }, row, {}, repeatedAt), 'act')
    }),
    { numRuns: 5_000 },
  )
})

test('no attempt acts after a lookup made as late as the contract says found it absent', () => {
  const after = rules.acceptsForMs! + rules.clockSkewMs
  fc.assert(
    fc.property(skew, span, span, span, (ahead, endsAfter, asksLater, landsLater) => {
      // Ours is the true time; the sender's clock is ahead of it, when the attempt begins and when it asks.
      const begunAt = now + ahead
      const askedAt = begunAt + endsAfter + after + asksLater - ahead
      const landsAt = askedAt + landsLater
      assert.notEqual(word({ plannedAt: landsAt, begunAt }, null, {}, landsAt), 'act')
    }),
    { numRuns: 5_000 },
  )
})

test('a row decides: whatever is sent, a key that is there never acts', () => {
  const at = fc.integer({ min: now - 1e6, max: now + 1e6 })
  const row = fc.oneof(
    fc.record({ at }).map((about) => answered(about)),
    at.map((closed): KeyRow => ({ kind: 'tombstoned', at: closed })),
  )
  fc.assert(
    fc.property(
      row,
      at,
      at,
      fc.boolean(),
      fc.constantFrom(one, other),
      (there, plannedAt, begunAt, forgetKeys, fingerprint) => {
        assert.notEqual(word({ plannedAt, begunAt, fingerprint }, there, { forgetKeys }), 'act')
      },
    ),
  )
})
