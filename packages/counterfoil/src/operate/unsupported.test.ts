import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EventType } from '../intake/index.ts'
import type { QuarantinePage, QuarantineQuery, QuarantineView } from '../store/index.ts'
import { unsupportedTypes } from './unsupported.ts'

const type = (name: string, version?: string, from: readonly string[] = []) =>
  ({
    producer: { name: 'shop' },
    type: name,
    version,
    schema: undefined,
    upcast: from.map((one) => ({ from: one, to: (old: unknown) => old })),
  }) as unknown as EventType

/** A store that pages as stores do. */
function storeOf(
  entries: readonly [producer: string, type: string, version: string | null, reason?: string][],
) {
  const views = entries.map(
    ([producer, name, version, reason = 'unsupported-type'], at) =>
      ({
        id: `qua_${at}`,
        producer,
        type: name,
        reason,
        detail: { type: name, version },
      }) as unknown as QuarantineView,
  )
  return {
    async listQuarantine({ limit, before, reason }: QuarantineQuery): Promise<QuarantinePage> {
      const matching = views.filter((view) => view.reason === reason)
      const begin = before === undefined ? 0 : matching.findIndex(({ id }) => id === before) + 1
      const entries = matching.slice(begin, begin + limit)
      return { entries, next: begin + limit < matching.length ? entries.at(-1)!.id : null }
    },
  }
}

test('types that no trigger supports are told, the most frequent first', async () => {
  const store = storeOf([
    ['shop', 'refunded', null],
    ['shop', 'paid', '1'],
    ['shop', 'paid', '1'],
    ['mail', 'opened', null],
    ['shop', 'paid', '2'],
    ['shop', 'paid', '3', 'schema-failure'],
  ])
  assert.deepEqual(await unsupportedTypes(store, [type('paid', '3', ['2'])]), [
    { producer: 'shop', type: 'paid', version: '1', count: 2 },
    { producer: 'shop', type: 'refunded', version: null, count: 1 },
    { producer: 'mail', type: 'opened', version: null, count: 1 },
  ])
  assert.deepEqual(await unsupportedTypes(store, [type('paid'), type('refunded')]), [
    { producer: 'mail', type: 'opened', version: null, count: 1 },
  ])
})

test('all pages are looked at, and not without end', async () => {
  const many = storeOf(
    Array.from({ length: 7_000 }, () => ['shop', 'refunded', null] as const).map((one) => [...one]),
  )
  assert.deepEqual(await unsupportedTypes(many, []), [
    { producer: 'shop', type: 'refunded', version: null, count: 5_000 },
  ])
  const few = storeOf(Array.from({ length: 1_001 }, () => ['shop', 'refunded', null]))
  assert.equal((await unsupportedTypes(few, []))[0]!.count, 1_001)
  assert.deepEqual(await unsupportedTypes(storeOf([]), []), [])
})
