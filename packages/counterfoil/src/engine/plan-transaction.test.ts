import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { QuarantineId, ReceiptId } from '../domain/index.ts'
import type { NewQuarantine, Plan, Planned, Store, Transactions } from '../store/index.ts'
import { planInClient } from './plan-transaction.ts'

// What a real client does with it is in adapters/; here is what is made of each way a client can fail.

const plan: Plan = {
  outbox: 1,
  receipt: 'rcp_1' as ReceiptId,
  at: 5,
  plannedBy: 'v1',
  effects: [],
  onConflict: { id: 'qua_1' as QuarantineId, owner: 'team' },
}
const planned: Planned = { kind: 'planned', effects: [] }

function world(about: { answer?: Planned; run?: Transactions<string>['run'] }) {
  const quarantined: NewQuarantine[] = []
  const ends: string[] = []
  const store: Pick<Store, 'planIn' | 'quarantinePlan'> = {
    planIn: async () => about.answer ?? planned,
    quarantinePlan: async ({ quarantine }) => void quarantined.push(quarantine),
  }
  const run: Transactions<string>['run'] = async (work) => {
    try {
      const result = await work('tx')
      ends.push('committed')
      return result
    } catch (error) {
      ends.push('rolled back')
      throw error
    }
  }
  const transactions: Transactions<string> = {
    client: 'test',
    run: about.run ?? run,
    isOvertaken: (error) => error instanceof Error && error.message === 'overtaken',
    executor: async () => ({ dialect: 'postgres', query: async () => [] }),
  }
  const planIt = (write: () => Promise<Plan> = async () => plan) =>
    planInClient(store as Store, transactions as Transactions<unknown>, 1_000, write)
  return { planIt, quarantined, ends }
}

test('a plan commits with the client’s transaction', async () => {
  const { planIt, ends } = world({})
  assert.deepEqual(await planIt(), planned)
  assert.deepEqual(ends, ['committed'])
})

test('a conflict rolls everything back, and is then given up with both fingerprints', async () => {
  const answer = {
    kind: 'conflict',
    recipient: 'bank',
    key: 'k',
    planned: 'jcs-sha256:1',
    existing: 'jcs-sha256:2',
    quarantine: 'qua_1',
  } as Planned
  const { planIt, ends, quarantined } = world({ answer })
  assert.deepEqual(await planIt(), answer)
  assert.deepEqual(ends, ['rolled back'])
  const detail = { recipient: 'bank', key: 'k', planned: 'jcs-sha256:1', existing: 'jcs-sha256:2' }
  assert.deepEqual(quarantined, [{ id: 'qua_1', owner: 'team', reason: 'effect-conflict', detail }])
})

test('a record that another worker planned meanwhile: what this trigger wrote is rolled back', async () => {
  const { planIt, ends, quarantined } = world({ answer: { kind: 'consumed' } })
  assert.deepEqual(await planIt(), { kind: 'consumed' })
  assert.deepEqual([ends, quarantined], [['rolled back'], []])
})

describe('what the client says', () => {
  test('before the work is no fault of the trigger', async () => {
    const { planIt } = world({ run: () => Promise.reject(new Error('no connection')) })
    await assert.rejects(planIt(), {
      code: 'store_unavailable',
      message: /test began no transaction: no conn/,
    })
  })

  test('at the commit leaves open whether it holds', async () => {
    const run: Transactions<string>['run'] = async (work) => {
      await work('tx')
      throw new Error('connection lost')
    }
    const { planIt } = world({ run })
    await assert.rejects(planIt(), { code: 'commit_unknown', message: /test did not commit for sure/ })
  })

  test('in the work is the trigger’s own error', async () => {
    const { planIt, ends } = world({})
    const own = new Error('no such customer')
    await assert.rejects(
      planIt(() => Promise.reject(own)),
      (error) => error === own,
    )
    assert.deepEqual(ends, ['rolled back'])
  })
})

test('a client that does the work again gets it anew, and the last one counts', async () => {
  let tries = 0
  const run: Transactions<string>['run'] = async (work) => {
    await work('tx').catch(() => {})
    return await work('tx')
  }
  const { planIt } = world({ run })
  const outcome = await planIt(async () => {
    if (++tries === 1) throw new Error('could not serialize access')
    return plan
  })
  assert.deepEqual([outcome, tries], [planned, 2])
})

test('a plan that another was faster than is made again at once, and put back when that does not end', async () => {
  let tries = 0
  const faster = (times: number) => async () => {
    if (++tries <= times) throw new Error('overtaken')
    return plan
  }
  const { planIt, ends } = world({})
  assert.deepEqual(await planIt(faster(3)), planned)
  assert.deepEqual(ends, ['rolled back', 'rolled back', 'rolled back', 'committed'])
  tries = 0
  await assert.rejects(planIt(faster(Number.POSITIVE_INFINITY)), { code: 'store_busy' })
  assert.equal(tries, 20)
})
