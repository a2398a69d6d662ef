import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BeyondRetention } from '../store/index.ts'
import { now, problemOf, testIntake } from './fixtures/intake.ts'
import { standardRequest } from './fixtures/senders.ts'

const paid = JSON.stringify({ type: 'invoice.paid', timestamp: '2025-01-01T00:00:00Z', data: { id: 'in_1' } })

test('a delivery from before the boundary is answered 422 with the boundary, and its place is given back', async () => {
  const boundary = Date.UTC(2025, 5, 1)
  let reserved = 0
  const handOff = {
    reserve() {
      reserved++
      return { worker: 'wrk_1' as never, leaseMs: 5_000 }
    },
    deliver: () => {},
    release: () => void reserved--,
  }
  const refuse = () => Promise.reject(new BeyondRetention(boundary))
  const { receive, counters, entries } = testIntake(refuse, { handOff })
  const response = await receive(standardRequest('msg_1', now, paid))
  assert.equal(response.status, 422)
  const problem = await problemOf(response)
  assert.deepEqual([problem.code, problem.boundary], ['beyond_retention', '2025-06-01T00:00:00.000Z'])
  assert.equal(counters.get('standard beyond_retention'), 1)
  assert.equal(reserved, 0)
  assert.equal(entries[0]?.beyond, undefined, 'a live delivery is refused, not kept')
})
