import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filterNames, readFilter } from './quarantine-filter.ts'

const now = 1_790_000_000_000

test('every filter is read into what the store is asked', () => {
  const given: [string, string][] = [
    ['producer', 'stripe/acct_1'],
    ['type', 'invoice.paid'],
    ['reason', 'schema-failure'],
    ['owner', 'billing'],
    ['assignee', '-'],
    ['state', 'dismissed'],
    ['event', 'evt=1'],
    ['older', '24h'],
  ]
  assert.deepEqual(readFilter(given, now), {
    producer: 'stripe/acct_1',
    type: 'invoice.paid',
    reason: 'schema-failure',
    owner: 'billing',
    assignee: null,
    state: 'dismissed',
    event: 'evt=1',
    until: now - 86_400_000,
  })
  assert.deepEqual(readFilter([['until', '2026-12-01T00:00:00.5Z']], now), { until: 1_796_083_200_500 })
  assert.deepEqual(readFilter([], now), {})
})

test('what is no filter, or no value of one, is refused with the names that there are', () => {
  const cases: [string, string][][] = [
    [['colour', 'red']],
    [['__proto__', 'x']],
    [['producer', '']],
    [['event', 'x'.repeat(513)]],
    [['reason', 'odd']],
    [['state', 'open']],
    [['until', 'yesterday']],
    [['older', 'long']],
    [
      ['until', '2026-12-01'],
      ['older', '1h'],
    ],
    [
      ['type', 'a'],
      ['type', 'b'],
    ],
  ]
  for (const given of cases) {
    assert.throws(
      () => readFilter(given, now),
      (error: { code: string; hint: string }) => {
        assert.equal(error.code, 'usage_invalid', JSON.stringify(given))
        for (const name of filterNames) assert.match(error.hint, new RegExp(name))
        return true
      },
    )
  }
})
