import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WorkerId } from '../domain/index.ts'
import { noTracing } from '../domain/index.ts'
import { recipient } from '../recipients/index.ts'
import type { AttemptRecord, EffectView, Settlement, Store } from '../store/index.ts'
import { seededRandom, VirtualClock } from '../testing/index.ts'
import { attend, type EffectPorts } from './effects.ts'

const attempt = (number: number, outcome: AttemptRecord['outcome']): AttemptRecord => ({
  number,
  begunAt: number * 1_000,
  endedAt: outcome === null ? null : number * 1_000 + 500,
  outcome,
  open: true,
  why: null,
  status: null,
  correlation: null,
  retryAfterMs: null,
  worker: 'wrk_1',
})
const effect = (version: number, attempts: readonly AttemptRecord[]) =>
  ({
    id: 'eff_1',
    recipient: 'seats',
    state: 'attempting',
    plannedAt: 0,
    attempts,
    version,
    evidence: [],
  }) as unknown as EffectView

test('a worker that slept over the end of a lease does not end that of the next attempt', async () => {
  const written: Settlement[] = []
  const store: Pick<Store, 'settle'> = {
    async settle(settlement) {
      written.push(settlement)
      // Meanwhile another worker ended the lease and began a repeat, which is in flight.
      return { kind: 'stale', current: effect(4, [attempt(1, 'unknown'), attempt(2, null)]) }
    },
  }
  const ports = {
    store,
    clock: new VirtualClock(60_000),
    random: seededRandom(1),
    log: () => {},
    tracing: noTracing,
  }
  const settings = {
    worker: 'wrk_2' as WorkerId,
    leaseMs: 30_000,
    recipients: new Map([['seats', recipient('seats', { url: 'http://seats.test', contract: {} })]]),
    owner: 'operators',
    lookAgain: () => {},
  }
  const slept = effect(2, [attempt(1, null)])
  await attend(ports as unknown as EffectPorts, settings, slept, new AbortController().signal, () => {})
  assert.deepEqual(
    written.map(({ expectedVersion }) => expectedVersion),
    [2],
  )
})
