import { DatabaseSync } from 'node:sqlite'
import type { Contract } from 'counterfoil'
import { type Guard, guard, sqliteGuardStore } from 'counterfoil/guard'
import type { SimulatedHistory } from 'counterfoil/testing'

/** How late a request may act at the recipients that bound it: by the clock that the attempt was begun by. */
export const actsWithinMs = 3_000

const keyed = {
  header: 'Idempotency-Key',
  remembersFor: '24h',
  otherPayload: 'refused',
  replays: 'first-success',
} as const
const bounded = {
  times: { begunAt: 'Attempt-Begun-At' },
  // Too late: nothing was done, and nothing of it ever will be.
  outcomes: [{ status: 425, means: 'not-acted' }],
} as const
const absence = { final: true, after: '4s' } as const

/** The guard of the `guarded` recipient, on a database that its handler writes to as well. */
export function guardOn(db: DatabaseSync): Guard<DatabaseSync, 'sync'> {
  return guard({
    store: sqliteGuardStore(db),
    caller: () => 'counterfoil',
    remembersFor: '30d',
    acceptsFor: actsWithinMs,
    clockSkew: 500,
    fence: 'required',
    path: '/guarded/counterfoil',
  })
}

const published = guardOn(new DatabaseSync(':memory:')).contract
const fence = published.ordering?.fence
if (fence === undefined) throw new Error('the guard compares versions')

/** What the recipients promise. Each keeps to it, and promises nothing that it could do by accident. */
export const contracts = {
  /** Recognises a repeat; cannot be asked. */
  idempotent: { idempotency: keyed },
  /** Acts on whatever comes in time, twice too; can be asked, and "not there" is final. */
  queryable: {
    lookup: { by: 'function', after: '200ms', absence },
    ...bounded,
  },
  both: {
    idempotency: keyed,
    lookup: { by: 'key', path: '/both/operations/{key}', after: '200ms', absence },
    ...bounded,
  },
  /** Acts on whatever comes, and cannot be asked: what is unknown stays so. */
  neither: {},
  /** A service with our guard in it: keys, lookups, fences and tombstones. */
  guarded: { ...published, ordering: { ...published.ordering, fence } },
} as const satisfies Record<string, Contract>

type Promises = SimulatedHistory['promises'] extends ReadonlyMap<string, infer Kept> ? Kept : never

const nothing: Promises = {
  repeats: null,
  remembersErrors: false,
  remembersMs: 86_400_000,
  unstated: false,
  lookup: null,
  fences: false,
  conditional: false,
  tombstones: false,
  defers: false,
}
/** The same by hand, for the checker: it never asks how a contract is read. */
export const promises: Record<keyof typeof contracts, Promises> = {
  idempotent: { ...nothing, repeats: 'replayed' },
  queryable: { ...nothing, lookup: { finalAfterMs: 4_000 } },
  both: { ...nothing, repeats: 'replayed', lookup: { finalAfterMs: 4_000 } },
  neither: nothing,
  guarded: {
    ...nothing,
    repeats: 'replayed',
    lookup: { finalAfterMs: 3_500 },
    fences: true,
    tombstones: true,
  },
}

export type Shape = keyof typeof contracts
export const shapes = Object.keys(contracts) as Shape[]
