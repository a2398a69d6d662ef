import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonValue } from '../domain/index.ts'
import { CounterfoilError, type WorkerId } from '../domain/index.ts'
import type { Acceptance, Accepted } from '../store/index.ts'
import { readEvent } from './event.ts'
import { acceptAll, testIntake, vault } from './fixtures/intake.ts'
import { trusted, trustingKind } from './fixtures/kind-under-test.ts'
import { maxElements } from './interpret.ts'
import { eventTypes, producer } from './producer.ts'
import type { HandOff } from './take.ts'

const kind = trustingKind({
  events: (payload) => (Array.isArray(payload) ? (payload as JsonValue[]) : null),
  volatile: ['/attempt'],
})
const mail = producer('mail', kind, { maxBytes: 2_000_000 })
const types = [mail.event('opened')]
const opened = (id: unknown, more: object = {}) => ({ id, type: 'opened', ...more })

/** A store that holds what it is given to one rule: the second time an id comes it is a duplicate. */
function remembering() {
  const seen = new Set<string>()
  return async (entry: Acceptance): Promise<Accepted> => {
    const { id, eventId } = entry.receipt
    if (seen.has(eventId)) return { outcome: 'duplicate', receipt: id }
    seen.add(eventId)
    return await acceptAll(entry)
  }
}

describe('events that come together', () => {
  test('get a receipt each, and one answer that tells of each in its place', async () => {
    const { receive, entries, counters } = testIntake(remembering(), { producers: [mail], types })
    const response = await receive(
      trusted('mail', [opened('a'), opened('a'), { id: 'b', type: 'bounced' }, opened('c')]),
    )
    assert.equal(response.status, 202)
    const body = (await response.json()) as Record<string, unknown> & { events: Record<string, unknown>[] }
    const { events, ...counts } = body
    assert.deepEqual(counts, { outcome: 'batch', accepted: 2, duplicate: 1, quarantined: 1, conflict: 0 })
    assert.deepEqual(
      events.map(({ outcome, reason }) => [outcome, reason]),
      [
        ['accepted', undefined],
        ['duplicate', undefined],
        ['quarantined', 'unsupported-type'],
        ['accepted', undefined],
      ],
    )
    assert.deepEqual(
      events.map(({ receipt }) => receipt),
      entries.map(({ receipt }) => receipt.id),
    )
    assert.deepEqual(
      [...counters],
      [
        ['mail accepted', 2],
        ['mail duplicate', 1],
        ['mail quarantined', 1],
      ],
    )
  })

  test('are kept one by one in canonical form, beside the digest of all the bytes that came', async () => {
    const { receive, entries } = testIntake(acceptAll, { producers: [mail], types })
    const sent = '[ {"type":"opened", "id":"a", "n": 1.0}, {"id":"b","type":"opened"} ]'
    await receive(trusted('mail', sent))
    const kept = entries.map(({ payload, receipt }) =>
      Buffer.from(vault.open(payload, receipt.id)).toString(),
    )
    assert.deepEqual(kept, ['{"id":"a","n":1,"type":"opened"}', '{"id":"b","type":"opened"}'])
    assert.deepEqual(
      entries.map(({ receipt: r }) => [r.contentType, r.bytes]),
      kept.map((text) => ['application/json', text.length]),
    )
    assert.equal(new Set(entries.map(({ receipt }) => receipt.rawFingerprint)).size, 1)
    assert.equal(new Set(entries.map(({ receipt }) => receipt.fingerprint)).size, 2)
  })

  test('are read again after a crash, each by itself', async () => {
    const { receive, entries } = testIntake(acceptAll, { producers: [mail], types })
    await receive(trusted('mail', [opened('a', { n: 1 }), opened('b', { n: 2 })]))
    const { receipt, payload } = entries[1]!
    const read = await readEvent(
      new Map([['mail', mail]]),
      eventTypes(types),
      { ...receipt } as never,
      vault.open(payload, receipt.id),
    )
    assert.deepEqual(read.kind === 'event' && read.event.data, opened('b', { n: 2 }))
  })

  test('leave volatile members out of their fingerprints', async () => {
    const { receive, entries } = testIntake(acceptAll, { producers: [mail], types })
    await receive(trusted('mail', [opened('a', { attempt: 1 })]))
    await receive(trusted('mail', [opened('a', { attempt: 2 })]))
    assert.equal(entries[0]!.receipt.fingerprint, entries[1]!.receipt.fingerprint)
  })

  test('one without an id, of whatever shape, does not keep the others from being taken', async () => {
    const { receive, entries } = testIntake(acceptAll, { producers: [mail], types })
    const odd = [
      opened('x'.repeat(513)),
      opened('a\u0000b'),
      opened(''),
      { type: 'opened' },
      null,
      7,
      [],
      'text',
    ]
    const response = await receive(trusted('mail', [opened('a'), ...odd, opened('b')]))
    assert.equal(response.status, 202)
    assert.deepEqual(
      entries.map(({ next }) => next.kind),
      ['plan', ...odd.map(() => 'quarantine'), 'plan'],
    )
    for (const { next, receipt } of entries.slice(1, -1)) {
      assert.equal(next.kind === 'quarantine' && next.quarantine.reason, 'schema-failure')
      assert.match(receipt.eventId, /^content:raw-sha256:[0-9a-f]{64}$/)
    }
    assert.equal(new Set(entries.map(({ receipt }) => receipt.eventId)).size, entries.length)
  })

  test('that JSON cannot carry faithfully wait in quarantine as the one delivery that they were', async () => {
    const { receive, entries } = testIntake(acceptAll, { producers: [mail], types })
    const response = await receive(trusted('mail', '[{"id":"a","n":9007199254740993},{"id":"b"}]'))
    assert.equal(response.status, 202)
    assert.deepEqual(
      entries.map(({ next }) => next.kind === 'quarantine' && next.quarantine.reason),
      ['not-representable'],
    )
  })

  test('none at all are acknowledged, and one that is no list is read as one event', async () => {
    const { receive, entries } = testIntake(acceptAll, { producers: [mail], types })
    const none = await receive(trusted('mail', []))
    assert.equal(none.status, 200)
    assert.equal(((await none.json()) as { events: unknown[] }).events.length, 0)
    assert.equal((await receive(trusted('mail', opened('a')))).status, 202)
    assert.equal((await receive(trusted('mail', { type: 'opened' }))).status, 400)
    assert.equal(entries.length, 1)
  })

  test('more than the limit are refused before anything is kept', async () => {
    const { receive, entries } = testIntake(acceptAll, { producers: [mail], types })
    const many = (count: number) =>
      trusted(
        'mail',
        Array.from({ length: count }, (_, at) => ({ id: `${at}` })),
      )
    assert.equal((await receive(many(maxElements + 1))).status, 413)
    assert.equal(entries.length, 0)
    assert.equal((await receive(many(maxElements))).status, 202)
    assert.equal(entries.length, maxElements)
  })

  test('are all acknowledged or none: a store that cannot commit answers 503', async () => {
    const { receive, ports } = testIntake(acceptAll, { producers: [mail], types })
    ports.store.acceptAll = async () => {
      throw new CounterfoilError('commit_unknown', 'the disk failed')
    }
    assert.equal((await receive(trusted('mail', [opened('a'), opened('b')]))).status, 503)
  })

  test('are handed on with their data, and every place that is not used is given back', async () => {
    const delivered: string[] = []
    let places = 0
    const handOff: HandOff = {
      reserve: () => {
        places++
        return { worker: 'wrk_1' as WorkerId, leaseMs: 1_000 }
      },
      deliver: ({ event }) => {
        places--
        delivered.push(event.id)
      },
      release: () => {
        places--
      },
    }
    const { receive, ports } = testIntake(remembering(), { producers: [mail], types, handOff })
    await receive(trusted('mail', [opened('a'), opened('a'), { id: 'b', type: 'other' }, opened('c')]))
    assert.deepEqual([delivered, places], [['a', 'c'], 0])
    ports.store.acceptAll = async () => {
      throw new CounterfoilError('store_full', 'no room')
    }
    await receive(trusted('mail', [opened('d'), opened('e')]))
    assert.deepEqual([delivered, places], [['a', 'c'], 0])
  })
})
