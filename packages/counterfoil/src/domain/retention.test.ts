import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Contract } from './contract.ts'
import type { Duration } from './duration.ts'
import { CounterfoilError } from './errors.ts'
import {
  assumedRecipientMs,
  assumedResendMs,
  combinationInWords,
  cutoff,
  type RetentionOptions,
  retentionOf,
  retentionSteps,
} from './retention.ts'

const day = 86_400_000
const contractOf = (remembersFor: Duration | 'forever' | 'unstated'): Contract => ({
  idempotency: { header: 'Idempotency-Key', remembersFor, otherPayload: 'refused', replays: 'first-answer' },
})
const stripe = { name: 'stripe/acct_1', retryHorizon: '30d', isInternal: false } as const
const bank = { name: 'bank', contract: contractOf('24h') }
const subjects = { producers: [stripe], recipients: [bank] }

describe('the horizons', () => {
  test('add up for each producer and recipient, the longest first', () => {
    const slow = { name: 'slow', contract: contractOf('90d') }
    const { combinations, longest } = retentionOf({}, { producers: [stripe], recipients: [bank, slow] })
    assert.deepEqual(
      combinations.map(({ recipient, totalMs }) => [recipient, totalMs / day]),
      [
        ['slow', 30 + 7 + 90 + 30],
        ['bank', 30 + 7 + 1 + 30],
      ],
    )
    assert.equal(
      combinationInWords(longest),
      "an event of 'stripe/acct_1' may come again for 30d, wait 7d for its plan and its attempt, be remembered by 'slow' for 90d, and take people 30d to settle: 157d in all",
    )
  })

  const horizonOf = (retryHorizon: Duration, isInternal: boolean, configured?: Duration) => {
    const producers = [{ name: 'p', retryHorizon, isInternal }]
    const options = configured === undefined ? {} : { producers: { p: configured } }
    return retentionOf(options, { producers, recipients: [] }).producers[0]!.ms
  }
  test('of a producer: what its kind states, at least 30d where people may send again, or what is configured', () => {
    assert.equal(horizonOf('31d', false), 31 * day)
    assert.equal(horizonOf('4h', false), assumedResendMs)
    assert.equal(horizonOf('7d', true), 7 * day)
    assert.equal(horizonOf('7d', false, '8d'), 8 * day)
    assert.throws(() => horizonOf('7d', false, '6d'), { code: 'retention_too_short' })
  })

  const recipientMs = (contract: Contract) =>
    retentionOf({}, { producers: [], recipients: [{ name: 'r', contract }] }).recipients[0]!.ms
  test('of a recipient: the longest that its contract states; what has no end is counted as what is not stated', () => {
    assert.equal(recipientMs(contractOf('90d')), 90 * day)
    assert.equal(recipientMs(contractOf('1h')), day / 24)
    for (const remembersFor of ['forever', 'unstated'] as const)
      assert.equal(recipientMs(contractOf(remembersFor)), assumedRecipientMs)
    assert.equal(recipientMs({}), assumedRecipientMs)
    const lookup = { by: 'key', path: '/{key}', absence: { final: false }, findsFor: '40d' } as const
    assert.equal(recipientMs({ ...contractOf('1h'), lookup }), 40 * day)
  })
})

describe('a period', () => {
  const refused = (options: RetentionOptions): string => {
    try {
      retentionOf(options, subjects)
    } catch (error) {
      assert.ok(error instanceof CounterfoilError && error.code === 'retention_too_short', String(error))
      return error.message
    }
    assert.fail(`${JSON.stringify(options)} is accepted`)
  }

  test('that is not given is the least that is safe; markers stay', () => {
    assert.deepEqual(retentionOf({}, subjects).periods, {
      payloadMs: 30 * day,
      evidenceMs: 400 * day,
      boundaryMs: null,
      effectKeysMs: null,
    })
    assert.equal(retentionOf({ audit: '1d' }, subjects).periods.evidenceMs, 68 * day)
  })

  test('that is too short is refused, with what needs how long', () => {
    assert.match(
      refused({ audit: '1d', evidence: '67d' }),
      /^retention\.evidence is 67d and has to be at least 68d: an event of 'stripe\/acct_1'/,
    )
    assert.match(refused({ evidence: '399d' }), /at least 400d: the audit horizon is 400d/)
    assert.match(refused({ audit: '1d', evidence: '68d', payload: '69d' }), /does not outlive/)
    assert.match(refused({ audit: '1d', boundary: '67d' }), /^retention\.boundary is 67d .* 68d: an event of/)
    assert.match(refused({ boundary: '399d' }), /^retention\.boundary .* 400d: a marker is what is left/)
    assert.match(refused({ audit: '1d', effectKeys: '67d' }), /^retention\.effectKeys is 67d/)
  })

  test('names no producer that is not there', () => {
    assert.throws(() => retentionOf({ producers: { strype: '90d' } }, subjects), { code: 'config_invalid' })
  })

  test('is accepted exactly when it is as long as the sums say', () => {
    const days = fc.integer({ min: 0, max: 120 })
    const duration = days.map((count): Duration => `${count}d`)
    fc.assert(
      fc.property(
        fc.record(
          {
            queue: duration,
            operator: duration,
            audit: duration,
            evidence: duration,
            boundary: duration,
            effectKeys: duration,
          },
          { requiredKeys: ['queue', 'operator', 'audit'] },
        ),
        (options) => {
          const whole = (text: Duration) => Number.parseInt(String(text), 10)
          const sum = 30 + whole(options.queue) + 1 + whole(options.operator)
          const least = Math.max(sum, whole(options.audit))
          const evidence = options.evidence === undefined ? least : whole(options.evidence)
          const fits =
            evidence >= least &&
            whole(options.operator) <= evidence &&
            [options.boundary, options.effectKeys].every(
              (one) => one === undefined || whole(one) >= Math.max(sum, evidence),
            )
          if (fits) retentionOf(options, subjects)
          else assert.throws(() => retentionOf(options, subjects), { code: 'retention_too_short' })
        },
      ),
    )
  })
})

test('each step takes what is done with for its period, and what is kept for ever nothing', () => {
  const { periods } = retentionOf({ audit: '90d', payload: '1d', boundary: '100d' }, subjects)
  assert.deepEqual(
    retentionSteps.map((step) => cutoff(step, periods, 1_000 * day)).map((at) => at && at / day),
    [999, 999, 910, 910, 900, null],
  )
})
