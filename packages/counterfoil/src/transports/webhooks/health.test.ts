import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type EndpointHealth, healthAfter, healthy, leastFailures } from './health.ts'
import { standardSchedule, waitAfter } from './schedule.ts'

const day = 86_400_000
const after = (
  before: EndpointHealth,
  kind: 'confirmed' | 'unknown' | 'notActed',
  now: number,
  status?: number,
) => healthAfter(before, { kind, ...(status === undefined ? {} : { status }) }, now, 5 * day)

test('nothing but failures for the stated time switch an endpoint off; one success begins anew', () => {
  const outcome = fc.record({
    kind: fc.constantFrom('confirmed' as const, 'unknown' as const, 'notActed' as const),
    status: fc.constantFrom(200, 429, 500, 404),
    waitMs: fc.integer({ min: 0, max: 2 * day }),
  })
  fc.assert(
    fc.property(fc.array(outcome, { maxLength: 60 }), (outcomes) => {
      let health = healthy
      let now = 0
      let since = null as number | null
      let failures = 0
      for (const { kind, status, waitMs } of outcomes) {
        if (health.off !== null) break
        now += waitMs
        health = after(health, kind, now, kind === 'confirmed' ? 200 : status)
        if (kind === 'confirmed') [since, failures] = [null, 0]
        else if (status !== 429) [since, failures] = [since ?? now, failures + 1]
        const isOver: boolean = since !== null && failures >= leastFailures && now - since >= 5 * day
        assert.equal(health.off !== null, isOver && !(kind !== 'confirmed' && status === 429))
        assert.equal(health.failingSince, since)
      }
    }),
  )
})

test('410 switches it off at once, and no later answer switches it on', () => {
  const gone = after(healthy, 'notActed', 7, 410)
  assert.deepEqual(gone.off, { at: 7, why: 'gone' })
  assert.equal(after(gone, 'confirmed', 8, 200), gone)
})

test('the schedule is that of Standard Webhooks: ten attempts in 75 h 35 min 5 s', () => {
  assert.equal(standardSchedule.length, 9)
  assert.equal(
    standardSchedule.reduce((sum, wait) => sum + wait),
    (75 * 60 + 35) * 60_000 + 5_000,
  )
  assert.equal(waitAfter(standardSchedule, 1), 5_000)
  assert.equal(waitAfter(standardSchedule, 9), day)
  assert.equal(waitAfter(standardSchedule, 30), day, 'once a day from then on')
})
