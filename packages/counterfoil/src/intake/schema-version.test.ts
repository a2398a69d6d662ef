import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { z } from 'zod'
import { readEvent } from './event.ts'
import { acceptAll, testIntake, vault } from './fixtures/intake.ts'
import { trusted, trustingKind } from './fixtures/kind-under-test.ts'
import { type EventType, eventTypes, producer } from './producer.ts'
import type { HandOff } from './take.ts'

const shop = producer('shop', trustingKind())
const Second = z.object({ total: z.object({ cents: z.number() }) })
const Third = Second.extend({ currency: z.string() })

/** From no version to 2 to 3. */
const paid = shop.event('paid', {
  version: '3',
  schema: Third,
  upcast: [
    {
      from: null,
      schema: z.object({ total: z.number() }),
      to: (old) => ({ total: { cents: old.total * 100 } }),
    },
    { from: '2', to: (old) => ({ ...old, currency: 'EUR' }) },
  ],
})

/** What triggers get of an event, at once and after a crash; or why it is in quarantine. */
async function given(types: readonly EventType[], event: object) {
  const delivered: { version: string | null; data: unknown }[] = []
  const handOff: HandOff = {
    reserve: () => ({ worker: 'w' as never, leaseMs: 1 }),
    deliver: ({ event: { version, data } }) => delivered.push({ version, data }),
    release: () => {},
  }
  const { receive, entries } = testIntake(acceptAll, { producers: [shop], types, handOff })
  const response = await receive(trusted('shop', { id: 'e1', type: 'paid', ...event }))
  assert.equal(response.status, 202)
  const { receipt, payload, next } = entries[0]!
  assert.equal(receipt.schemaVersion, (event as { version?: string }).version ?? null)
  const read = await readEvent(
    new Map([['shop', shop]]),
    eventTypes(types),
    receipt as never,
    vault.open(payload, receipt.id),
  )
  if (next.kind === 'quarantine') {
    assert.deepEqual(read, {
      kind: 'quarantine',
      reason: next.quarantine.reason,
      detail: next.quarantine.detail,
    })
    return { reason: next.quarantine.reason, detail: next.quarantine.detail }
  }
  assert.ok(read.kind === 'event')
  const { version, data } = read.event
  assert.deepEqual(delivered, [{ version, data }])
  return { version, data }
}

describe('several versions of one type', () => {
  test('come to a trigger as the one that it knows, through every step', async () => {
    const third = { version: '3', data: { total: { cents: 500 }, currency: 'EUR' } }
    assert.deepEqual(await given([paid], { total: 5 }), third)
    assert.deepEqual(await given([paid], { version: '2', total: { cents: 500 } }), third)
    assert.deepEqual(await given([paid], { version: '3', total: { cents: 500 }, currency: 'EUR' }), third)
  })

  test('stand side by side, each with its own schema', async () => {
    const types = [
      shop.event('paid', { version: '1', schema: z.object({ total: z.number() }) }),
      shop.event('paid', { version: '2', schema: Second }),
    ]
    assert.deepEqual(await given(types, { version: '1', total: 5 }), { version: '1', data: { total: 5 } })
    assert.deepEqual(await given(types, { version: '2', total: { cents: 5 } }), {
      version: '2',
      data: { total: { cents: 5 } },
    })
  })

  test('one that no step leads from is unsupported, and says which are', async () => {
    assert.deepEqual(await given([paid], { version: '9' }), {
      reason: 'unsupported-type',
      detail: { type: 'paid', version: '9', supportedVersions: ['3', null, '2'] },
    })
  })

  test('old data that does not fit its own schema, or new data that does not fit the new one, waits in quarantine', async () => {
    const old = (await given([paid], { total: 'five' })) as {
      reason: string
      detail: { faults: { path: string }[] }
    }
    assert.deepEqual([old.reason, old.detail.faults[0]!.path], ['schema-failure', '/total'])
    const made = (await given([paid], { version: '2', total: 5 })) as typeof old
    assert.deepEqual([made.reason, made.detail.faults[0]!.path], ['schema-failure', '/total'])
  })

  test('a step that throws, or promises, names its version and nothing of the payload', async () => {
    for (const [to, why] of [
      [
        () => {
          throw new TypeError('sk_live_secret')
        },
        'the up-cast from version 1 threw (TypeError)',
      ],
      [async () => Promise.reject(new Error('no')), 'the up-cast from version 1 gave a promise'],
    ] as const) {
      const type = shop.event('paid', { version: '2', upcast: { from: '1', to } })
      assert.deepEqual(await given([type], { version: '1' }), {
        reason: 'schema-failure',
        detail: { faults: [{ path: '', message: why }] },
      })
    }
  })
})

describe('what contradicts itself is refused when it is configured', () => {
  const to = (old: unknown) => old

  test('steps to no version, from one twice, or from their own', () => {
    for (const about of [
      { upcast: { from: '1', to } },
      {
        version: '2',
        upcast: [
          { from: '1', to },
          { from: '1', to },
        ],
      },
      { version: '2', upcast: { from: '2', to } },
      {
        version: '2',
        upcast: [
          { from: null, to },
          { from: null, to },
        ],
      },
    ]) {
      assert.throws(() => shop.event('paid', about), { code: 'config_invalid' }, JSON.stringify(about))
    }
  })

  test('two types that one event would be read by in two ways', () => {
    const upcast = { from: '1', to }
    const type = shop.event('paid', { version: '2', upcast })
    for (const other of [
      shop.event('paid', { version: '1' }),
      shop.event('paid', { version: '2' }),
      shop.event('paid', { version: '2', upcast }),
      shop.event('paid', { version: '3', upcast }),
      shop.event('paid'),
    ]) {
      assert.throws(() => eventTypes([type, other]), { code: 'config_invalid' })
      assert.throws(() => eventTypes([other, type]), { code: 'config_invalid' })
    }
    assert.equal(eventTypes([type, type]).get('shop')?.get('paid')?.length, 1)
    assert.equal(
      eventTypes([type, shop.event('paid', { version: '4' })])
        .get('shop')
        ?.get('paid')?.length,
      2,
    )
  })
})
