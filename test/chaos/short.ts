import assert from 'node:assert/strict'
import { test } from 'node:test'
import { missing } from '../../packages/counterfoil/src/store/postgres/fixtures/binaries.ts'
import { skipLoudly } from '../../packages/counterfoil/src/testing/skip.ts'
import { type EpisodeOptions, episode } from './episode.ts'
import type { Kind, StoreKind } from './kind.ts'

/** Few faults of a kind, with few servers, as a test. */
export interface Short {
  readonly kind: Kind
  readonly times: number
  readonly servers?: number
  /** With the fault planted that the kind must find. */
  readonly control?: boolean
}

export function shortVersions(store: StoreKind, shorts: readonly Short[]): void {
  for (const { kind, times, servers = 2, control = false } of shorts) {
    const plant = control ? kind.control : undefined
    const options: EpisodeOptions = { store, seed: 1, times, servers, plant }
    const ends = control ? `and a planted fault is found: ${plant}` : 'and nothing is broken'
    test(`${kind.about} (${times} ${kind.unit} on ${store}), ${ends}`, async (t) => {
      const why = (store === 'postgres' ? missing(18) : undefined) ?? kind.missing?.(store)
      if (why !== undefined) return skipLoudly(t, why)
      const { violations, acknowledged, acts } = await episode(kind, options)
      assert.ok(acknowledged > 0 && acts > 0, 'it ran under load')
      if (control) assert.notDeepEqual(violations, [])
      else assert.deepEqual(violations, [])
    })
  }
}
